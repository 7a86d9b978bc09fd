/** SpawnSupervisor(name, strategy): keeps children up as the spec says. */
import type { Pid } from "../../abi/ids.ts";
import { DEFAULT_STRATEGY, type SupervisorSpec } from "../../abi/supervise.ts";
import { spawnSupervisor as spawn } from "../supervise/supervisor.ts";
import type { Call } from "./call.ts";

export const spawnSupervisor: Call<{ spec: SupervisorSpec; opts: { parentPid?: Pid } }, Pid> = {
  name: "SpawnSupervisor",
  holds: true,
  args: ({ spec }) => ({ name: spec.name, strategy: spec.strategy ?? DEFAULT_STRATEGY }),
  result: (pid) => pid,
  run: (core, self, { spec, opts }, pass) => spawn(core, self, spec, opts, pass.signal),
};
