/**
 * Spawn(agent, intent, model): a new process. The steps are in process/spawn.ts. A program of the host is an effect, and so
 * are the servers that an agent brings: they pass the guard before anything starts, unless a person starts it.
 */
import type { AgentInfo } from "../../abi/agent.ts";
import { PID_KERNEL, type Pid } from "../../abi/ids.ts";
import { SIGNALS } from "../../abi/process.ts";
import type { SpawnOpts } from "../../abi/sys.ts";
import type { Core } from "../core.ts";
import type { Call, Pass } from "../gate/call.ts";
import { checkCovered } from "../gate/covers.ts";
import { EXEC_TOOL, execEffect } from "../gate/exec-effect.ts";
import { guard } from "../gate/guard.ts";
import { ownCopy } from "../gate/own-copy.ts";
import { allowing } from "../gate/permit.ts";
import type { Scope } from "../gate/scope.ts";
import { guardServers } from "../gate/servers.ts";
import type { Process } from "../process/process.ts";
import { spawnProcess } from "../process/spawn.ts";

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
  async run(core, self, given, pass) {
    if (self.pid === PID_KERNEL) return start(core, self, given, pass);
    const args = ownArgs(self, given);
    const { command } = args.opts;
    if (command !== undefined) return spawnNative(core, self, command, args, pass);
    if (pass.scope !== null) checkDeclared(self, args.agent, pass.scope);
    const { name = "", mcp = [] } = args.agent?.manifest ?? {};
    const at = { syscall: "Spawn", device: name };
    return guardServers(core, self, at, mcp, pass, () => start(core, self, args, pass));
  },
};

/** Of what the guard judges. Its words may be long, and are shared by all that run the same agent. */
function ownArgs(self: Process, { intent, agent, opts: { stdin, ...opts } }: SpawnArgs): SpawnArgs {
  return {
    intent,
    agent: agent === null ? null : withOwnServers(self, agent),
    opts: { ...ownCopy(self, "Spawn", opts), ...(stdin === undefined ? {} : { stdin }) },
  };
}

function withOwnServers(self: Process, agent: AgentInfo): AgentInfo {
  const mcp = ownCopy(self, "Spawn", agent.manifest.mcp);
  return { ...agent, manifest: { ...agent.manifest, mcp } };
}

async function start(
  core: Core,
  self: Process,
  args: SpawnArgs,
  pass: Pass,
  isOutside = false,
): Promise<Pid> {
  const { intent, agent, opts } = args;
  return (await spawnProcess(core, self, intent, agent, opts, pass.signal, { isOutside })).pid;
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
  const act = async (scope: Scope): Promise<Pid> =>
    attended(core, self, await start(core, self, args, pass, scope.sandbox === null), scope);
  return guard(core, self, effectful, pass, act, () => undefined);
}

/** It ends when a person takes back what alone allowed it, if the person wants that. */
function attended(core: Core, self: Process, pid: Pid, scope: Scope): Pid {
  const proc = core.table.get(pid);
  if (proc === undefined) return pid;
  const end = (): void => void core.deliver(proc, SIGNALS.SIGTERM).catch(() => {});
  const release = core.grants.attend(self, allowing(core, self, scope), end);
  proc.done.promise.finally(release).catch(() => {});
  return pid;
}

/** A program under /bin starts only what it said it would. */
function checkDeclared(self: Process, agent: AgentInfo | null, scope: Scope): void {
  const program = agent?.manifest.name ?? "";
  const effect = { kind: "spawn", program, background: false } as const;
  checkCovered(self, { syscall: "Spawn", device: program }, [effect], scope);
}
