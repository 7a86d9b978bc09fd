/**
 * What a signal does to a process. The default actions: TERM and INT cancel, KILL is forced, PAUSE holds at the next step,
 * RESUME goes on. Decided and recorded in one synchronous step.
 */
import { type Disposition, EXIT, type ExitStatus, SIGNALS, type Signal } from "../../abi/process.ts";
import type { Core } from "../core.ts";
import { LIMITS } from "../limits.ts";
import { endLive } from "../process/finish.ts";
import type { Process } from "../process/process.ts";

const VERDICT: Readonly<Partial<Record<Signal, ExitStatus>>> = {
  1: EXIT.sigterm,
  2: EXIT.sigkill,
  3: EXIT.sigint,
};

/** Resolves when the signal is recorded; the process ends in its own time, after TERM by force after `graceMs`. */
export async function deliver(
  core: Core,
  proc: Process,
  signal: Signal,
  graceMs: number = LIMITS.termGraceMs,
): Promise<Disposition> {
  if (!proc.isLive) return "ignored";
  const { pid } = proc;
  core.ports.journal.note([{ proc: proc.seed.uuid, pid, kind: "signal", v: 1, body: { signal } }]);
  const mono = core.ports.clock.mono();
  if (signal === SIGNALS.SIGPAUSE) {
    proc.pause(mono);
    return "default";
  }
  proc.resume(mono);
  const verdict = VERDICT[signal];
  if (verdict === undefined) return "default";
  // KILL outranks a TERM that is under way; otherwise the first verdict stands.
  if (proc.verdict === null || signal === SIGNALS.SIGKILL) proc.verdict = verdict;
  endLive(core, proc, signal === SIGNALS.SIGTERM ? graceMs : Infinity);
  return "default";
}
