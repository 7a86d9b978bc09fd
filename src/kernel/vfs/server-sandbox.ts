/** Within what a local MCP server runs: that of an agent in its agent's sandbox, that of a person as the host is. */
import { PID_KERNEL } from "../../abi/ids.ts";
import type { McpConfig } from "../../abi/mcp.ts";
import type { SandboxProfile } from "../../abi/sandbox.ts";
import type { Core } from "../core.ts";
import { MOUNT_TOOL } from "../gate/mount-tool.ts";
import type { Process } from "../process/process.ts";
import { subjectOf } from "../process/subject.ts";

/** Without the scratch folder of the agent: agents that work in one place share a server. */
export function serverSandbox(core: Core, owner: Process, config: McpConfig): SandboxProfile | null {
  if (owner.pid === PID_KERNEL || config.type === "http") return null;
  const { command, args, cwd = core.ports.home } = config;
  const effect = { kind: "exec", argv: [command, ...args], cwd, certain: true } as const;
  const { free: _, ...subject } = subjectOf(core, owner);
  const request = { tool: MOUNT_TOOL, effects: [effect] };
  return core.ports.permitFor(owner.seed.cwd).sandbox?.(subject, request) ?? null;
}
