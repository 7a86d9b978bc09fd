import type { Effect } from "../abi/effects.ts";
import { PID_KERNEL, type Pid } from "../abi/ids.ts";
import { DEFAULT_STRATEGY, type SupervisorSpec } from "../abi/supervise.ts";
import { checkCovered } from "../kernel/gate/covers.ts";
import type { Effectful } from "../kernel/gate/effectful.ts";
import { execEffect } from "../kernel/gate/exec-effect.ts";
import type { KernelCall } from "../kernel/gate/gate.ts";
import { guard } from "../kernel/gate/guard.ts";
import { ownCopy } from "../kernel/gate/own-copy.ts";
import type { Gatekeeping, KernelPass } from "../kernel/gate/passage.ts";
import { type Launching, MOUNT_TOOL, mountEffect } from "../kernel/gate/servers.ts";
import { EXEC_TOOL } from "../kernel/native/command.ts";
import type { Process } from "../kernel/process/process.ts";
import { abortable } from "../lib/abort.ts";
import { Endowment } from "./endowment.ts";
import { launchSupervisor } from "./launch.ts";
import { type CheckedSpec, type CheckedStart, checkSpec } from "./spec.ts";
import { type Supervising, Supervisor } from "./supervisor.ts";

/** The parts of the kernel that this call uses. */
type SupervisorStarting = Gatekeeping & Launching & Supervising;

/**
 * SpawnSupervisor(name, strategy): keeps children running as the spec says. Its host programs and the MCP servers of
 * its agents are effects: they pass the guard together before the first starts, unless the user starts them; restarts
 * are not asked again. What a restart runs, however late, is what was permitted.
 */
export const spawnSupervisor: KernelCall<
  "spawnSupervisor",
  { spec: SupervisorSpec; opts: { parentPid?: Pid } },
  SupervisorStarting
> = {
  name: "SpawnSupervisor",
  holds: true,
  take: (spec, opts = {}) => ({ spec, opts }),
  args: ({ spec }) => ({ name: spec.name, strategy: spec.strategy ?? DEFAULT_STRATEGY }),
  result: (pid) => pid,
  async run(pass, { spec: given, opts }) {
    const { self } = pass;
    const isPerson = self.pid === PID_KERNEL;
    const spec = checkSpec(isPerson ? given : ownCopy(self, "SpawnSupervisor", given));
    const endowment = new Endowment();
    const start = (): Promise<Pid> => launch({ ...pass, spec }, endowment, opts.parentPid);
    return isPerson ? start() : guarded({ ...pass, spec }, endowment, start);
  },
};

interface Wish extends KernelPass<SupervisorStarting> {
  readonly spec: CheckedSpec;
}

type Start = () => Promise<Pid>;

/**
 * Rejects with the error of the first child that does not start; then no process is left. Children of the user's
 * supervisor run with the user's rights, as if the user had started them; those of an agent's, with a part of the
 * agent's rights.
 */
async function launch(
  { core, self, spec, signal }: Wish,
  endowment: Endowment,
  parentPid: Pid = self.pid,
): Promise<Pid> {
  const isTop = parentPid === PID_KERNEL;
  const supervisor = new Supervisor(core, spec, { endowment, ...(isTop ? { rights: core.root } : {}) });
  const proc = await launchSupervisor(core, supervisor, { caller: self, opts: { parentPid }, signal });
  return proc.pid;
}

async function guarded(wish: Wish, endowment: Endowment, start: Start): Promise<Pid> {
  const { self, spec, scope } = wish;
  const all = startsOf(self, spec);
  // a program under /bin may start only what it declared; for other callers, starting agents needs no permission
  if (scope !== null) checkCovered(scope, all, { self, ...atOf(spec) });
  const own = effectful(
    spec,
    EXEC_TOOL,
    all.filter(({ kind }) => kind === "exec"),
  );
  const brought = effectful(spec, MOUNT_TOOL, await serversOf(wish, spec, endowment));
  return judged(wish, own, () => judged(wish, brought, start));
}

/** Rules match by tool: a process that may run any command through `bash` may not therefore mount any server. */
function effectful(spec: CheckedSpec, tool: string, effects: readonly Effect[]): Effectful {
  return { ...atOf(spec), tool, input: spec.name, effects, effectClass: "once" };
}

function judged(pass: KernelPass, starts: Effectful, start: Start): Promise<Pid> {
  return starts.effects.length === 0 ? start() : guard(pass, starts, start);
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

/** The agents are loaded here once: loading them again later would let changed files start other servers. */
async function serversOf(
  pass: KernelPass<SupervisorStarting>,
  { children }: CheckedSpec,
  endowment: Endowment,
): Promise<Effect[]> {
  const { core, self, signal } = pass;
  const effects: Effect[] = [];
  for (const { id, start } of children) {
    const own = endowment.of(id);
    if (start.kind === "supervisor") effects.push(...(await serversOf(pass, start.spec, own)));
    if (start.kind !== "agent" || start.agent === undefined) continue;
    const seeker = { ...self.seed, cwd: start.opts.cwd ?? self.seed.cwd };
    const info = await abortable(core.ports.loadAgent(start.agent, seeker), signal);
    own.agent = { info };
    const path = info?.manifest.name ?? "";
    for (const { config } of info?.manifest.mcp ?? [])
      effects.push(mountEffect(core, self, { path, config }));
  }
  return effects;
}
