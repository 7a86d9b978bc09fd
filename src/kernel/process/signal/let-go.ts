/**
 * What a crash of the daemon holds below a process goes on with it: the process would wait for such a child without end. What the
 * user paused stays paused, and so does one whose history has ended a daemon.
 */
import { SIGNALS, type Signal } from "../../../abi/process.ts";
import { lendEnv } from "../lending.ts";
import type { Process } from "../process.ts";
import type { ProcessTable } from "../table.ts";

interface LettingGo {
  readonly table: Pick<ProcessTable, "childrenOf">;
  deliver(proc: Process, signal: Signal): Promise<unknown>;
}

/** Call when `top`, which a crash held, goes on. A child has the environment of its parent. */
export async function letGoBelow(core: LettingGo, top: Process): Promise<void> {
  for (const child of core.table.childrenOf(top.pid)) {
    if (child.halt.why === "crash" && !child.past.isSuspect) {
      lendEnv(child, top.seed.env);
      await core.deliver(child, SIGNALS.SIGRESUME);
    }
    if (child.isLive && child.halt.why === null) await letGoBelow(core, child);
  }
}
