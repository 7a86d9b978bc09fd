/** MCP servers: transports that share a pool of servers, and the device that uses a transport. */
import type { Device } from "../../abi/device.ts";
import type { McpConfig } from "../../abi/mcp.ts";
import type { Clock } from "../../abi/program.ts";
import type { HostExec } from "../../kernel/ports/host.ts";
import type { McpHost, McpOwner, McpTransport } from "../../kernel/ports/mcp.ts";
import type { Services } from "../../kernel/ports/services.ts";
import { mcpDevice } from "./device.ts";
import { launchOf } from "./launch.ts";
import { MCP_LIMITS } from "./limits.ts";
import { Pool } from "./pool.ts";
import { PooledTransport } from "./pooled-transport.ts";

interface McpDeps {
  readonly exec: HostExec;
  /** Called when the first server starts, because the kernel that provides services is created with this host. */
  readonly services: () => Services;
  readonly clock: Clock;
  readonly home: string;
  readonly version: string;
  /** How long a server without holders is kept; default: 5 minutes. */
  readonly idleTtlMs?: number;
}

export function mcpHost(deps: McpDeps): McpHost {
  const pool = new Pool({ idleTtlMs: MCP_LIMITS.idleTtlMs, ...deps });
  return {
    transport: (config: McpConfig, owner: McpOwner) =>
      new PooledTransport(pool, launchOf(config, owner, deps.home), owner),
    device: (server: string, transport: McpTransport): Device => mcpDevice(server, asPooled(transport)),
    close: () => pool.close(),
  };
}

function asPooled(transport: McpTransport): PooledTransport {
  if (transport instanceof PooledTransport) return transport;
  throw new Error("a transport of another host");
}
