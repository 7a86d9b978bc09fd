/** running → zombie, once, whoever comes first: the loop's end or a forced kill. */

import type { ErrorCode } from "../../../abi/errno.ts";
import { codeOf, Fault, printed } from "../../../abi/errors.ts";
import type { RunCost } from "../../../abi/events.ts";
import { PID_KERNEL } from "../../../abi/ids.ts";
import { EXIT, type ExitStatus, SIGNALS } from "../../../abi/process.ts";
import type { Core } from "../../core.ts";
import { LIMITS } from "../../limits.ts";
import { resultLines } from "../../log/log-line.ts";
import type { JournalDraft } from "../../ports/journal.ts";
import type { Process } from "../process.ts";

/** What a signal or deadline decided outranks what the program returned. */
export function finish(core: Core, proc: Process, returned: ExitStatus): Promise<void> {
  return proc.life.finish((hurry) => {
    const exit = proc.ending.verdict ?? returned;
    return finishOnce({ core, proc, exit, hurry });
  });
}

interface Finish {
  readonly core: Core;
  readonly proc: Process;
  readonly exit: ExitStatus;
  /** Ends its wait for the disk. */
  readonly hurry: AbortSignal;
}

async function finishOnce(finish: Finish): Promise<void> {
  const { core, proc, exit } = finish;
  await core.mounts.unmountOf(proc);
  if (proc.past.isUnread) await lastWords(core, proc);
  // nobody hears of an exit that can never be kept: the daemon ends, and the next goes on with this process
  if (!(await journalExit(finish)) && core.ports.journal.state.state === "lost") return;
  core.snapshots.rests(proc);
  proc.life.exited(exit, core.ports.clock.mono());
  proc.debug?.end();
  endDependants(core, proc);
  proc.done.resolve(exit);
  tell(core, proc, exit);
  core.ports.onExited?.(proc.pid);
  if (proc.ppid === PID_KERNEL) core.offer(proc, "seen");
}

/** Those that end with it do so at its exit, however long nobody reaps it. */
function endDependants(core: Core, proc: Process): void {
  for (const pid of proc.children) {
    const child = core.table.get(pid);
    if (child?.isLive === true && child.seed.onParentExit === "terminate")
      void core.deliver(child, SIGNALS.SIGTERM, LIMITS.orphanGraceMs);
  }
}

/** What it came to may be in a history that nobody needed yet. One that cannot be read keeps nothing from its end. */
async function lastWords(core: Core, proc: Process): Promise<void> {
  try {
    await proc.past.recall();
  } catch (error) {
    core.ports.log("warn", `pid ${proc.pid}: its result could not be read: ${printed(error)}`);
  }
}

/** Nobody hears of an exit that is not kept; but who wants its end now, by a signal, does not wait for the disk. */
async function append({ core, proc, hurry }: Finish, record: JournalDraft): Promise<void> {
  for (;;) {
    try {
      await core.ports.journal.append([record]);
      return;
    } catch (error) {
      const isHurried = proc.ending.verdict !== null || hurry.aborted;
      if (isHurried || core.ports.journal.state.state !== "degraded") throw error;
      await core.journalWatch.heldUntil(proc, hurry);
    }
  }
}

/**
 * Synced before anyone hears of it. A disk that refuses does not keep a process alive: it is logged, and the record is kept for
 * when the disk takes it, or the next daemon would take the process for lost. False: it was refused.
 */
async function journalExit(finish: Finish): Promise<boolean> {
  const { core, proc, exit } = finish;
  const { code, reason, kind, err } = exit;
  const message = err?.message.slice(0, LIMITS.journalWordsChars);
  const failure = err === undefined ? {} : { error: { code: codeOf(err), message } };
  const body = {
    code,
    reason: reason.slice(0, LIMITS.journalWordsChars),
    kind,
    result: bounded(proc.result),
    tokensUsed: proc.used.tokens,
    ...failure,
  };
  const { pid } = proc;
  try {
    await append(finish, { proc: proc.seed.uuid, pid, kind: "process.exited", v: 1, body });
    return true;
  } catch (error) {
    core.ports.log("error", `pid ${pid}: its exit could not be journalled: ${printed(error)}`);
    core.note(proc, "process.exited", body);
    // what it came to is in its messages; that it ended must not be forgotten
    const end = { code, reason: body.reason, kind, result: "", tokensUsed: proc.used.tokens };
    core.keptEnds.keep({ proc: proc.seed.uuid, pid, kind: "process.exited", body: end });
    return false;
  }
}

/** A record that is too large would be refused, and the process be taken for lost: the end of a long result goes. */
function bounded(result: string): string {
  if (result.length <= LIMITS.journalResultChars) return result;
  const encodedBytes = Buffer.byteLength(JSON.stringify(result));
  // No character takes more than six bytes in JSON.
  return encodedBytes <= LIMITS.journalResultChars * 6 ? result : result.slice(0, LIMITS.journalResultChars);
}

function costOf({ used: { microUsd: own }, seed }: Process): { cost?: RunCost } {
  const subtree = Math.max(own, seed.account.spent.microUsd);
  return subtree === 0 ? {} : { cost: { own, subtree } };
}

function tell(core: Core, proc: Process, exit: ExitStatus): void {
  const { pid, result } = proc;
  const mono = core.ports.clock.mono();
  if (exit.code !== 0) {
    const error = exit.err ?? new Fault({ code: codeOfExit(exit), message: exit.reason });
    const message = exit.err === undefined ? exit.reason : exit.err.message;
    proc.tell({ event: "error", pid, message, error }, mono);
  }
  if (proc.seed.kind === "agent")
    for (const line of resultLines(result, proc.elapsedMs(mono))) proc.logs?.emit(line);
  const model = proc.model.answering === "" ? {} : { model: proc.model.answering };
  const { tokens: tokensUsed, unpricedCalls } = proc.used;
  const unpriced = unpricedCalls === 0 ? {} : { unpricedCalls };
  const elapsedMs = proc.elapsedMs(mono);
  const used = { tokensUsed, ...costOf(proc), ...unpriced, ...model, elapsedMs, ...proc.refusals.told() };
  proc.tell({ event: "complete", pid, result, exit, ...used }, mono);
  proc.logs?.end();
}

/** Of an exit without an error of its own: a limit, a signal, or a program that gave up. */
export function codeOfExit({ code, reason, kind }: ExitStatus): ErrorCode {
  if (kind === "killed") return "CANCELLED";
  return code === EXIT.budget.code || reason === EXIT.maxSteps.reason ? "BUDGET" : "INTERNAL";
}

/**
 * A verdict has fallen on a live process: the program is told. A forced one ends it now; else the program has `graceMs` to
 * heed it (Infinity: as long as it likes). One that is still being made ends in spawn.
 */
export function endLive(core: Core, proc: Process, graceMs: number): void {
  proc.abort.abort();
  if (proc.state !== "running") return;
  if (proc.ending.verdict?.code === EXIT.sigkill.code) force(core, proc);
  else forceAfter(core, proc, graceMs);
}

/** TERM to KILL where nobody says. */
export function graceOf(proc: Process): number {
  return proc.seed.body.termGraceMs ?? LIMITS.termGraceMs;
}

function force(core: Core, proc: Process): void {
  proc.life.close();
  proc.killed.abort();
  void finish(core, proc, proc.ending.verdict ?? EXIT.sigkill);
}

/**
 * Ends it by force if it has not ended by itself after `graceMs` (Infinity: never), whatever it does about signals. One plan
 * a process, unless a later one ends sooner; the timer goes with the process.
 */
export function forceAfter(core: Core, proc: Process, graceMs: number): void {
  const at = core.ports.clock.mono() + graceMs;
  if (graceMs === Infinity || !proc.ending.plan(at)) return;
  const stop = new AbortController();
  core.ports.clock.sleep(graceMs, stop.signal).then(
    () => {
      // What it decided itself, or a deadline, keeps its words; a signal that was not heeded becomes KILL.
      const { verdict } = proc.ending;
      if (verdict === null || verdict.kind === "killed") proc.ending.overrule(EXIT.sigkill);
      proc.abort.abort();
      // one that is still being made ends in spawn
      if (proc.state === "running") force(core, proc);
    },
    () => {},
  );
  const over = (): void => stop.abort();
  proc.done.promise.then(over, over);
}
