/** running → zombie, exactly once: by the end of the loop or a forced kill, whichever is first. */

import type { ErrorCode } from "../../../abi/errno.ts";
import { codeOf, Fault, printed } from "../../../abi/errors.ts";
import type { RunCost } from "../../../abi/events.ts";
import { PID_KERNEL } from "../../../abi/ids.ts";
import { EXIT, type ExitStatus, SIGNALS, type Signal } from "../../../abi/process.ts";
import { ABORTED } from "../../../lib/abort.ts";
import { takenDrafts } from "../../ipc/taken.ts";
import { LIMITS } from "../../limits.ts";
import { resultLines } from "../../log/log-line.ts";
import type { KeptEnd } from "../../ports/ends.ts";
import type { JournalDraft, RecordKind } from "../../ports/journal.ts";
import type { JournalHold } from "../../ports/journal-hold.ts";
import type { KernelPorts } from "../../ports/kernel-ports.ts";
import type { Process } from "../process.ts";
import type { ProcessTable } from "../table.ts";
import { treeOf } from "../tree/worktree.ts";
import { isUntold, reportOf, usesOf } from "./report.ts";

/** What the end of a process needs of the kernel. */
export interface Finishing {
  readonly ports: Pick<KernelPorts, "clock" | "journal" | "log" | "onExited" | "redactor">;
  readonly table: Pick<ProcessTable, "childrenOf" | "get">;
  readonly mounts: { unmountOf(proc: Process): Promise<void> };
  readonly snapshots: { rests(proc: Process): void };
  readonly journalWatch: Pick<JournalHold<Process>, "heldUntil">;
  readonly keptEnds: { keep(end: KeptEnd): boolean };
  note(proc: Process, kind: RecordKind, body: unknown): void;
  offer(proc: Process, when: "now" | "seen"): void;
  nextMessage(): number;
  deliver(proc: Process, signal: Signal, graceMs: number): Promise<unknown>;
}

/**
 * The exit that a signal or a deadline decided outranks the one that the program returned, except for a program of the
 * host that handles TERM.
 */
export function finish(core: Finishing, proc: Process, returned: ExitStatus): Promise<void> {
  return proc.life.finish((hurry) => {
    const exit = proc.ending.exitFor(returned);
    return finishOnce({ core, proc, exit, hurry });
  });
}

interface Finish {
  readonly core: Finishing;
  readonly proc: Process;
  readonly exit: ExitStatus;
  /** Ends the wait for the disk. */
  readonly hurry: AbortSignal;
}

async function finishOnce(finish: Finish): Promise<void> {
  const { core, proc, exit } = finish;
  await core.mounts.unmountOf(proc);
  if (proc.past.hasUnreadWords) await lastWords(core, proc);
  const report = reportOf(core, proc, exit);
  // an exit that can never be recorded is not announced: the daemon ends, and the next one resumes this process
  // what a program took before it completed is read, whatever it did with it
  const taken = exit.reason === EXIT.completed.reason ? takenDrafts(proc) : [];
  const isRecorded = await journalExit(finish, [...(report === null ? [] : [report.draft]), ...taken]);
  if (!isRecorded && core.ports.journal.state.state === "lost") {
    report?.drop();
    return;
  }
  core.snapshots.rests(proc);
  // the lead of a team may end once it is told of this end: what comes back to it is told before
  const isMember = proc.seed.child?.team !== undefined;
  if (isMember) await core.ports.onExited?.(proc.pid);
  proc.life.exited(exit, core.ports.clock.mono());
  proc.debug?.end();
  endDependants(core, proc);
  proc.done.resolve(exit);
  tell(core, proc, exit);
  report?.deliver();
  if (!isMember) void core.ports.onExited?.(proc.pid);
  if (proc.isLeft || report !== null || isUntold(proc)) core.offer(proc, wasToGo(proc) ? "now" : "seen");
}

/** It was to end with its parent, which has been reaped: as if it had ended before, nobody is shown it. */
function wasToGo({ ppid, seed: { onParentExit, line } }: Process): boolean {
  return onParentExit === "terminate" && ppid === PID_KERNEL && (line[0] ?? PID_KERNEL) !== PID_KERNEL;
}

/** Children that end with their parent do so at its exit, however late it is reaped. */
function endDependants(core: Finishing, proc: Process): void {
  for (const child of core.table.childrenOf(proc.pid)) {
    if (child.isLive && child.seed.onParentExit === "terminate")
      void core.deliver(child, SIGNALS.SIGTERM, LIMITS.orphanGraceMs);
  }
}

/** Reads the history for the result, if not yet done. A history that cannot be read does not prevent the end. */
async function lastWords(core: Finishing, proc: Process): Promise<void> {
  try {
    await proc.past.recall();
  } catch (error) {
    core.ports.log("warn", `pid ${proc.pid}: its result could not be read: ${printed(error)}`);
  }
}

/** An exit is announced only once recorded; so this waits for the disk, unless a signal demands the end now. */
async function append({ core, proc, hurry }: Finish, records: readonly JournalDraft[]): Promise<void> {
  for (;;) {
    try {
      await core.ports.journal.append(records);
      return;
    } catch (error) {
      const isHurried = proc.ending.verdict !== null || hurry.aborted;
      if (isHurried || core.ports.journal.state.state !== "degraded") throw error;
      await core.journalWatch.heldUntil(proc, hurry);
    }
  }
}

/**
 * The exit is synced before it is announced. A disk that refuses does not keep a process alive: this is logged, and the
 * record is held until the disk accepts it; without it, the next daemon would take the process for lost. False:
 * refused. `more`: records that are written with it.
 */
async function journalExit(finish: Finish, more: readonly JournalDraft[]): Promise<boolean> {
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
    ...proc.used.paid,
    ...usesOf(proc),
    ...(proc.labels.length === 0 ? {} : { labels: proc.labels }),
    ...treeOf(proc),
    ...failure,
  };
  const { pid } = proc;
  try {
    await append(finish, [{ proc: proc.seed.uuid, pid, kind: "process.exited", v: 1, body }, ...more]);
    return true;
  } catch (error) {
    core.ports.log("error", `pid ${pid}: its exit could not be journalled: ${printed(error)}`);
    core.note(proc, "process.exited", body);
    if (more.length > 0) core.ports.journal.note(more);
    // the result is in the messages as well; the fact that the process ended must not be lost
    const end = { code, reason: body.reason, kind, result: "", tokensUsed: proc.used.tokens };
    core.keptEnds.keep({ proc: proc.seed.uuid, pid, kind: "process.exited", body: end });
    return false;
  }
}

/** Truncates a long result: a record that is too large would be refused, and the process taken for lost. */
function bounded(result: string): string {
  if (result.length <= LIMITS.journalResultChars) return result;
  const encodedBytes = Buffer.byteLength(JSON.stringify(result));
  // No character takes more than six bytes in JSON.
  return encodedBytes <= LIMITS.journalResultChars * 6 ? result : result.slice(0, LIMITS.journalResultChars);
}

function costOf({ used: { microUsd: own, cached, thinking }, seed }: Process): { cost?: RunCost } {
  const subtree = Math.max(own, seed.account.spent.microUsd);
  return subtree + cached + thinking === 0 ? {} : { cost: { own, subtree, cached, thinking } };
}

function tell(core: Finishing, proc: Process, exit: ExitStatus): void {
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

/** The error code of an exit without an error of its own: by a limit, a signal, or a program that gave up. */
export function codeOfExit({ code, reason, kind }: ExitStatus): ErrorCode {
  if (kind === "killed") return "CANCELLED";
  return code === EXIT.budget.code || reason === EXIT.maxSteps.reason ? "BUDGET" : "INTERNAL";
}

/**
 * Carries out the verdict on a live process by aborting its program. KILL ends it now; otherwise the program has
 * `graceMs` to end by itself (Infinity: no limit). A process that is still being spawned is ended by the spawn.
 */
export function endLive(core: Finishing, proc: Process, graceMs: number): void {
  proc.abort.abort(ABORTED);
  if (proc.state !== "running") return;
  if (proc.ending.verdict?.code === EXIT.sigkill.code) force(core, proc);
  else forceAfter(core, proc, graceMs);
}

/** The default time from TERM to KILL. */
export function graceOf(proc: Process): number {
  return proc.seed.body.termGraceMs ?? LIMITS.termGraceMs;
}

function force(core: Finishing, proc: Process): void {
  proc.life.close();
  proc.killed.abort(ABORTED);
  void finish(core, proc, proc.ending.verdict ?? EXIT.sigkill);
}

/**
 * Ends the process by force if it has not ended by itself after `graceMs` (Infinity: never), whatever its signal
 * handling. A new plan counts only if it is due sooner than the current one; the timer stops at the end of the process.
 */
export function forceAfter(core: Finishing, proc: Process, graceMs: number): void {
  const at = core.ports.clock.mono() + graceMs;
  if (graceMs === Infinity || !proc.ending.plan(at)) return;
  const stop = new AbortController();
  core.ports.clock.sleep(graceMs, stop.signal).then(
    () => {
      // a verdict of a deadline or of the process itself stays; a signal that was not obeyed becomes KILL
      const { verdict } = proc.ending;
      if (verdict === null || verdict.kind === "killed") proc.ending.overrule(EXIT.sigkill);
      proc.abort.abort(ABORTED);
      // a process that is still being spawned is ended by the spawn
      if (proc.state === "running") force(core, proc);
    },
    () => {},
  );
  const over = (): void => stop.abort(ABORTED);
  proc.done.promise.then(over, over);
}
