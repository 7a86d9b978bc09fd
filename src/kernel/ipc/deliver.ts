/**
 * What a signal does to a process. The default actions: TERM and INT cancel, KILL is forced, PAUSE holds at the next step,
 * RESUME goes on. Decided and recorded in one synchronous step.
 */
import { EXIT, type ExitStatus, type Signal } from "../../abi/process.ts";
import type { Core } from "../core.ts";
import { LIMITS } from "../limits.ts";
import { finish, killRunning } from "../process/finish.ts";
import type { Process } from "../process/process.ts";

const VERDICT: Readonly<Partial<Record<Signal, ExitStatus>>> = {
  1: EXIT.sigterm,
  2: EXIT.sigkill,
  3: EXIT.sigint,
};

/** Resolves when the signal is recorded; the process ends in its own time. */
export async function deliver(core: Core, proc: Process, signal: Signal): Promise<void> {
  if (!proc.isLive) return;
  const { pid } = proc;
  core.ports.journal.note([{ proc: proc.seed.uuid, pid, kind: "signal", v: 1, body: { signal } }]);
  if (signal === 4) return pause(proc);
  if (signal === 5) return resume(proc);
  resume(proc);
  const verdict = VERDICT[signal] as ExitStatus;
  // KILL outranks a TERM that is under way; otherwise the first verdict stands.
  if (proc.verdict === null || signal === 2) proc.verdict = verdict;
  if (proc.state !== "running") return;
  killRunning(core, proc);
  if (signal === 1) killLater(core, proc);
}

function pause(proc: Process): void {
  proc.paused ??= Promise.withResolvers<void>();
}

function resume(proc: Process): void {
  proc.paused?.resolve();
  proc.paused = null;
}

/** KILL after the grace period; the timer goes with the process. */
function killLater(core: Core, proc: Process): void {
  const stop = new AbortController();
  core.ports.clock.sleep(LIMITS.termGraceMs, stop.signal).then(
    () => {
      proc.verdict = EXIT.sigkill;
      void finish(core, proc, EXIT.sigkill);
    },
    () => {},
  );
  void proc.done.promise.then(() => stop.abort());
}
