/** `/proc/<pid>/supervisor`: what it keeps up, how each child does, and why those that ended did. */
import type { SupervisorView } from "../../abi/supervise.ts";
import { exitOf } from "./exit.ts";

export function supervisorOf(view: SupervisorView): Record<string, unknown> {
  const { name, strategy, intensity, children, crashes } = view;
  return {
    name,
    strategy,
    intensity: { maxRestarts: intensity.maxRestarts, windowMs: intensity.windowMs },
    children: children.map(({ id, pid, state, restart, restarts, lastExit, nextStartAt }) => ({
      id,
      pid,
      state,
      restart,
      restarts,
      lastExit: lastExit === null ? null : exitOf(lastExit),
      nextStartAt,
    })),
    crashes: crashes.map((crash) => ({ ...crash, exit: exitOf(crash.exit) })),
  };
}
