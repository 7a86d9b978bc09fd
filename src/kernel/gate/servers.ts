/** The servers that an agent brings, as effects of who starts it: the file may be any, and who gives it may be no person. */
import type { McpServer } from "../../abi/mcp.ts";
import { mountEffect } from "../calls/mount.ts";
import type { Core } from "../core.ts";
import type { Process } from "../process/process.ts";
import { serverLabel } from "../vfs/server-label.ts";
import type { Pass } from "./call.ts";
import { guard } from "./guard.ts";
import { MOUNT_TOOL } from "./mount-tool.ts";

/** `act` mounts these, and no others. `device`: the name of the agent. */
export function guardServers<T>(
  core: Core,
  self: Process,
  at: { readonly syscall: string; readonly device: string },
  servers: readonly McpServer[],
  pass: Pass,
  act: () => Promise<T>,
): Promise<T> {
  if (servers.length === 0) return act();
  const effectful = {
    ...at,
    tool: MOUNT_TOOL,
    effects: servers.map(({ config }) => mountEffect(core, self, at.device, config)),
    effectClass: "once",
    input: servers.map(({ config }) => serverLabel(config)).join("\n"),
  } as const;
  return guard(core, self, effectful, pass, act, () => undefined);
}
