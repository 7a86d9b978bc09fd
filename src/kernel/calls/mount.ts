/** Mount(path, server): an MCP server as files. For a program, what starting or reaching it does passes the guard. */
import { PID_KERNEL } from "../../abi/ids.ts";
import type { McpConfig, McpState } from "../../abi/mcp.ts";
import type { Call } from "../gate/call.ts";
import { guard } from "../gate/guard.ts";
import { ownCopy } from "../gate/own-copy.ts";
import type { Scope } from "../gate/scope.ts";
import { MOUNT_TOOL, mountEffect } from "../gate/servers.ts";
import { serverLabel } from "../vfs/server-label.ts";

export const mount: Call<{ path: string; config: McpConfig }, { path: string; state: McpState }> = {
  name: "Mount",
  holds: true,
  args: ({ path, config }) => ({ path, server: serverLabel(config) }),
  result: ({ state }) => state,
  async run(core, self, { path, config: given }, pass) {
    const config = ownCopy(self, "Mount", given);
    const act = (scope?: Scope) =>
      core.mounts.mount({ owner: self, path, config, isOutside: scope?.sandbox === null }, pass.signal);
    // what the person mounts was the person's choice
    if (self.pid === PID_KERNEL) {
      core.journalWatch.check("Mount");
      return act();
    }
    const input = serverLabel(config);
    const effectful = {
      syscall: "Mount",
      device: path,
      tool: MOUNT_TOOL,
      effects: [mountEffect(core, self, path, config)],
      effectClass: "once",
      input,
    } as const;
    return guard(core, self, effectful, pass, act, () => undefined);
  },
};
