import type { Effect } from "../../abi/effects.ts";
import { PID_KERNEL, type Pid } from "../../abi/ids.ts";
import { DEFAULT_STRATEGY, type SupervisorSpec } from "../../abi/supervise.ts";
import { abortable } from "../../lib/abort.ts";
import { Endowment } from "../../supervise/endowment.ts";
import { spawnSupervisor as spawn } from "../../supervise/spawn-supervisor.ts";
import { type CheckedSpec, type CheckedStart, checkSpec } from "../../supervise/spec.ts";
import type { Core } from "../core.ts";
import type { Pass } from "../gate/call.ts";
import { checkCovered } from "../gate/covers.ts";
import { EXEC_TOOL, execEffect } from "../gate/exec-effect.ts";
import type { KernelCall } from "../gate/gate.ts";
import { guard } from "../gate/guard.ts";
import { ownCopy } from "../gate/own-copy.ts";
import { MOUNT_TOOL, mountEffect } from "../gate/servers.ts";
import type { Process } from "../process/process.ts";

/**
 * SpawnSupervisor(name, strategy): keeps children up as the spec says. The programs of the host among them are effects, and so
 * are the servers that their agents bring: they pass the guard all at once before the first starts, unless a person starts
 * them, and start again without asking. What starts then, however late, is what was permitted.
 */
export const spawnSupervisor: KernelCall<
  "spawnSupervisor",
  { spec: SupervisorSpec; opts: { parentPid?: Pid } }
> = {
  name: "SpawnSupervisor",
  holds: true,
  take: (spec, opts = {}) => ({ spec, opts }),
  args: ({ spec }) => ({ name: spec.name, strategy: spec.strategy ?? DEFAULT_STRATEGY }),
  result: (pid) => pid,
  async run(pass, { spec: given, opts }) {
    const { core, self } = pass;
    const isPerson = self.pid === PID_KERNEL;
    const spec = checkSpec(isPerson ? given : ownCopy(self, "SpawnSupervisor", given));
    const endowment = new Endowment();
    const start = (): Promise<Pid> => spawn(core, self, spec, opts, pass.signal, endowment);
    return isPerson ? start() : guarded({ core, self, spec, pass }, endowment, start);
  },
};

interface Wish {
  readonly core: Core;
  readonly self: Process;
  readonly spec: CheckedSpec;
  readonly pass: Pass;
}

type Start = () => Promise<Pid>;

async function guarded(wish: Wish, endowment: Endowment, start: Start): Promise<Pid> {
  const { core, self, spec, pass } = wish;
  const all = startsOf(self, spec);
  // a program under /bin starts only what it said it would; agents of others need no leave of their own
  if (pass.scope !== null) checkCovered(self, atOf(spec), all, pass.scope);
  const starts = all.filter(({ kind }) => kind === "exec");
  const servers = await serversOf(core, self, spec, endowment, pass.signal);
  return judged(wish, EXEC_TOOL, starts, () => judged(wish, MOUNT_TOOL, servers, start));
}

/** Rules match by the tool: who may run any command through `bash` may not yet mount any server. */
function judged(wish: Wish, tool: string, effects: readonly Effect[], start: Start): Promise<Pid> {
  if (effects.length === 0) return start();
  const { core, self, spec, pass } = wish;
  const effectful = { ...atOf(spec), tool, input: spec.name, effects, effectClass: "once" } as const;
  return guard(core, self, effectful, pass, start, () => undefined);
}

function atOf({ name }: CheckedSpec) {
  return { syscall: "SpawnSupervisor", device: name };
}

function startsOf(self: Process, { children }: CheckedSpec): Effect[] {
  return children.flatMap(({ start }) => effectsOf(self, start));
}

function effectsOf(self: Process, start: CheckedStart): Effect[] {
  switch (start.kind) {
    case "agent":
      return [{ kind: "spawn", program: start.agent ?? "", background: true }];
    case "native":
      return [execEffect(self, start.command, { ...start.opts, options: start.options })];
    case "supervisor":
      return startsOf(self, start.spec);
    case "withheld":
      return [];
  }
}

/** Of the agents, which are loaded here and not again: who can change their files would else start other servers. */
async function serversOf(
  core: Core,
  self: Process,
  { children }: CheckedSpec,
  endowment: Endowment,
  signal: AbortSignal,
): Promise<Effect[]> {
  const effects: Effect[] = [];
  for (const { id, start } of children) {
    const own = endowment.of(id);
    if (start.kind === "supervisor") effects.push(...(await serversOf(core, self, start.spec, own, signal)));
    if (start.kind !== "agent" || start.agent === undefined) continue;
    const { cwd, env } = self.seed;
    const info = await abortable(core.ports.loadAgent(start.agent, start.opts.cwd ?? cwd, env), signal);
    own.agent = { info };
    for (const { config } of info?.manifest.mcp ?? [])
      effects.push(mountEffect(core, self, info?.manifest.name ?? "", config));
  }
  return effects;
}
