/**
 * SpawnSupervisor(name, strategy): keeps children up as the spec says. The programs of the host among them are effects: they
 * pass the guard all at once before the first starts, unless a person starts them, and start again without asking.
 */
import type { Effect } from "../../abi/effects.ts";
import { PID_KERNEL, type Pid } from "../../abi/ids.ts";
import { DEFAULT_STRATEGY, type SupervisorSpec } from "../../abi/supervise.ts";
import type { Core } from "../core.ts";
import type { Process } from "../process/process.ts";
import { spawnSupervisor as spawn } from "../supervise/spawn-supervisor.ts";
import { type CheckedSpec, type CheckedStart, checkSpec } from "../supervise/spec.ts";
import type { Call, Pass } from "./call.ts";
import { EXEC_TOOL, execEffect } from "./exec-effect.ts";
import { guard } from "./guard.ts";

export const spawnSupervisor: Call<{ spec: SupervisorSpec; opts: { parentPid?: Pid } }, Pid> = {
  name: "SpawnSupervisor",
  holds: true,
  args: ({ spec }) => ({ name: spec.name, strategy: spec.strategy ?? DEFAULT_STRATEGY }),
  result: (pid) => pid,
  run(core, self, { spec, opts }, pass) {
    const start = (): Promise<Pid> => spawn(core, self, spec, opts, pass.signal);
    return self.pid === PID_KERNEL ? start() : guarded(core, self, checkSpec(spec), pass, start);
  },
};

async function guarded(
  core: Core,
  self: Process,
  spec: CheckedSpec,
  pass: Pass,
  start: () => Promise<Pid>,
): Promise<Pid> {
  const all = startsOf(self, spec);
  // a program under /bin starts only what it said it would; agents of others need no leave of their own
  const effects = pass.scope !== null ? all : all.filter(({ kind }) => kind === "exec");
  if (effects.length === 0) return start();
  const at = { syscall: "SpawnSupervisor", device: spec.name, tool: EXEC_TOOL, input: spec.name };
  return guard(core, self, { ...at, effects, effectClass: "once" }, pass, start, () => undefined);
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
  }
}
