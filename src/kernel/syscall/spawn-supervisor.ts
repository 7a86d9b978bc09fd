/** SpawnSupervisor(name, strategy): keeps children up as the spec says. */
import type { Effect } from "../../abi/effects.ts";
import type { Pid } from "../../abi/ids.ts";
import { DEFAULT_STRATEGY, type SupervisorSpec } from "../../abi/supervise.ts";
import type { Process } from "../process/process.ts";
import { spawnSupervisor as spawn } from "../supervise/spawn-supervisor.ts";
import { type CheckedSpec, type CheckedStart, checkSpec } from "../supervise/spec.ts";
import type { Call, Scope } from "./call.ts";
import { checkCovered } from "./covers.ts";

export const spawnSupervisor: Call<{ spec: SupervisorSpec; opts: { parentPid?: Pid } }, Pid> = {
  name: "SpawnSupervisor",
  holds: true,
  args: ({ spec }) => ({ name: spec.name, strategy: spec.strategy ?? DEFAULT_STRATEGY }),
  result: (pid) => pid,
  run(core, self, { spec, opts }, pass) {
    if (pass.scope !== null) checkDeclared(self, checkSpec(spec), pass.scope);
    return spawn(core, self, spec, opts, pass.signal);
  },
};

/** A program under /bin starts only what it said it would, now and at each restart. */
function checkDeclared(self: Process, spec: CheckedSpec, scope: Scope): void {
  const at = { syscall: "SpawnSupervisor", device: spec.name };
  checkCovered(self, at, startsOf(self, spec), scope);
}

function startsOf(self: Process, { children }: CheckedSpec): Effect[] {
  return children.flatMap(({ start }) => effectsOf(self, start));
}

function effectsOf(self: Process, start: CheckedStart): Effect[] {
  switch (start.kind) {
    case "agent":
      return [{ kind: "spawn", program: start.agent ?? "", background: true }];
    case "native": {
      const cwd = start.options.cwd ?? start.opts.cwd ?? self.seed.cwd;
      return [{ kind: "exec", argv: start.command, cwd, certain: true }];
    }
    case "supervisor":
      return startsOf(self, start.spec);
  }
}
