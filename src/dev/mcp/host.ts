/** MCP servers: transports over the pool of service processes, and the device over a transport. */
import type { Clock } from "../../abi/program.ts";
import type { HostExec } from "../../kernel/ports/host.ts";
import type { McpHost } from "../../kernel/ports/mcp.ts";
import type { Services } from "../../kernel/ports/services.ts";

export interface McpDeps {
  readonly exec: HostExec;
  /** Asked at the first server: the kernel that has them is made with this host. */
  readonly services: () => Services;
  readonly clock: Clock;
  readonly home: string;
  readonly version: string;
}

export function mcpHost(_deps: McpDeps): McpHost {
  const missing = (): never => {
    throw new Error("to be written");
  };
  return { transport: missing, device: missing, close: async () => {} };
}
