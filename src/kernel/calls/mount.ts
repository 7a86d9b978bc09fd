/** Mount(path, server): an MCP server as files. For a program, what starting or reaching it does passes the guard. */
import type { Effect } from "../../abi/effects.ts";
import { PID_KERNEL } from "../../abi/ids.ts";
import type { McpConfig, McpState } from "../../abi/mcp.ts";
import type { Core } from "../core.ts";
import type { Call, Scope } from "../gate/call.ts";
import { invalid } from "../gate/errors.ts";
import { guard } from "../gate/guard.ts";
import { MOUNT_TOOL } from "../gate/mount-tool.ts";
import { ownCopy } from "../gate/own-copy.ts";
import type { Process } from "../process/process.ts";
import { serverLabel } from "../vfs/server-label.ts";

export const mount: Call<{ path: string; config: McpConfig }, { path: string; state: McpState }> = {
  name: "Mount",
  holds: true,
  args: ({ path, config }) => ({ path, server: serverLabel(config) }),
  result: ({ state }) => state,
  async run(core, self, { path, config: given }, pass) {
    const config = ownCopy(self, "Mount", given);
    const act = (scope?: Scope) =>
      core.mounts.mount(core, self, path, config, pass.signal, scope?.sandbox === null);
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

/** INVALID: a URL that is none, variables that a program may not set. */
export function mountEffect(core: Core, self: Process, path: string, config: McpConfig): Effect {
  return config.type === "http" ? reach(self, path, config.url) : start(core, self, config);
}

/** Variables of the entry may change what the command does: with any, no rule for the command answers the question. */
function start(core: Core, self: Process, config: Extract<McpConfig, { type: "stdio" }>): Effect {
  core.ports.commandEnv({ pid: self.pid, uuid: self.seed.uuid, env: self.seed.env }, config.env);
  const { command, args, cwd = core.ports.home } = config;
  return { kind: "exec", argv: [command, ...args], cwd, certain: Object.keys(config.env).length === 0 };
}

function reach(self: Process, path: string, text: string): Effect {
  const url = URL.parse(text);
  if (url === null) throw invalid("Mount", self, `not a URL: ${text.slice(0, 200)}`, path);
  const port = url.port === "" ? (url.protocol === "http:" ? 80 : 443) : Number(url.port);
  return { kind: "network", host: url.hostname, port, method: "POST" };
}
