/**
 * Spawn(agent, intent, model): a new process. The steps are in process/spawn.ts. A program of the host is an effect, and so
 * are the servers that an agent brings: they pass the guard before anything starts, unless a person starts it.
 */
import type { AgentInfo } from "../../abi/agent.ts";
import { PID_KERNEL, type Pid } from "../../abi/ids.ts";
import type { McpServer } from "../../abi/mcp.ts";
import type { SpawnOpts } from "../../abi/sys.ts";
import type { Core } from "../core.ts";
import type { Process } from "../process/process.ts";
import { spawnProcess } from "../process/spawn.ts";
import { serverLabel } from "../vfs/server-label.ts";
import type { Call, Pass, Scope } from "./call.ts";
import { checkCovered } from "./covers.ts";
import { EXEC_TOOL, execEffect } from "./exec-effect.ts";
import { guard } from "./guard.ts";
import { MOUNT_TOOL, mountEffect } from "./mount.ts";

interface SpawnArgs {
  readonly intent: string;
  readonly agent: AgentInfo | null;
  readonly opts: SpawnOpts;
}

export const spawn: Call<SpawnArgs, Pid> = {
  name: "Spawn",
  holds: true,
  args: ({ agent, intent, opts }) => ({ agent: agent?.manifest.name ?? "", intent, model: opts.model ?? "" }),
  result: (pid) => pid,
  async run(core, self, args, pass) {
    const { command } = args.opts;
    if (command !== undefined && self.pid !== PID_KERNEL) return spawnNative(core, self, command, args, pass);
    if (pass.scope !== null) checkDeclared(self, args.agent, pass.scope);
    const servers = self.pid === PID_KERNEL ? [] : (args.agent?.manifest.mcp ?? []);
    return servers.length === 0
      ? start(core, self, args, pass)
      : spawnWithServers(core, self, servers, args, pass);
  },
};

async function start(core: Core, self: Process, args: SpawnArgs, pass: Pass): Promise<Pid> {
  const { intent, agent, opts } = args;
  return (await spawnProcess(core, self, intent, agent, opts, pass.signal)).pid;
}

function spawnNative(
  core: Core,
  self: Process,
  command: readonly string[],
  args: SpawnArgs,
  pass: Pass,
): Promise<Pid> {
  const effectful = {
    syscall: "Spawn",
    device: command[0] ?? "",
    tool: EXEC_TOOL,
    effects: [execEffect(self, command, args.opts)],
    effectClass: "once",
    input: JSON.stringify(command),
  } as const;
  const act = (): Promise<Pid> => start(core, self, args, pass);
  return guard(core, self, effectful, pass, act, () => undefined);
}

/** The file may be any: who gives it is no person. */
function spawnWithServers(
  core: Core,
  self: Process,
  servers: readonly McpServer[],
  args: SpawnArgs,
  pass: Pass,
): Promise<Pid> {
  const device = args.agent?.manifest.name ?? "";
  const effectful = {
    syscall: "Spawn",
    device,
    tool: MOUNT_TOOL,
    effects: servers.map(({ config }) => mountEffect(core, self, device, config)),
    effectClass: "once",
    input: servers.map(({ config }) => serverLabel(config)).join("\n"),
  } as const;
  return guard(
    core,
    self,
    effectful,
    pass,
    () => start(core, self, args, pass),
    () => undefined,
  );
}

/** A program under /bin starts only what it said it would. */
function checkDeclared(self: Process, agent: AgentInfo | null, scope: Scope): void {
  const program = agent?.manifest.name ?? "";
  const effect = { kind: "spawn", program, background: false } as const;
  checkCovered(self, { syscall: "Spawn", device: program }, [effect], scope);
}
