/**
 * The effect of a signal on a process: decided, recorded and carried out in one synchronous step, so that no concurrent
 * change of mask or handler loses or doubles it. By default TERM and INT cancel, KILL forces the end, PAUSE holds the
 * process at its next step, and RESUME ends the pause.
 *
 * A TERM that is blocked, ignored or handled does not end the process. A caller that needs the end passes a grace,
 * after which KILL follows whatever TERM did (children that end with their parent), or sends KILL itself (the
 * shutdown).
 */
import { Fault, messageOf } from "../../abi/errors.ts";
import {
  type Disposition,
  EXIT,
  type ExitStatus,
  SIGNALS,
  type Signal,
  signalName,
} from "../../abi/process.ts";
import type { Core } from "../core.ts";
import { bodyOf } from "../process/body.ts";
import { endLive, forceAfter, graceOf } from "../process/end/finish.ts";
import type { Process } from "../process/process.ts";
import { dispositionOf } from "./disposition.ts";
import { runHandler } from "./handler.ts";
import { SignalState } from "./signal-state.ts";

const VERDICT: Readonly<Partial<Record<Signal, ExitStatus>>> = {
  1: EXIT.sigterm,
  2: EXIT.sigkill,
  3: EXIT.sigint,
};
/** The shared state of processes without settings of their own; never changed. */
const UNTOUCHED = new SignalState();
const OVER = Promise.resolve();

/**
 * The signal has acted when the call returns; handlers are not awaited. With `graceMs` (TERM only) KILL follows after
 * that time in any case; without it, a TERM that acts by default becomes KILL after the process's usual grace.
 */
export async function deliver(
  core: Core,
  proc: Process,
  signal: Signal,
  graceMs?: number,
): Promise<Disposition> {
  const { disposition } = meet(core, proc, signal, graceMs);
  if (signal === SIGNALS.SIGTERM && graceMs !== undefined) forceAfter(core, proc, graceMs);
  return disposition;
}

/** Unblocks the signal and delivers pending ones in the same step. Resolves when their handlers have finished. */
export async function unblock(core: Core, proc: Process, signal: Signal): Promise<void> {
  const due = proc.signals?.unblock(signal) ?? [];
  await Promise.all(due.map((each) => meet(core, proc, each).heeded));
}

/**
 * Awaited before a signal is acknowledged to a client: acknowledged means durable. UNAVAILABLE: the signal has acted,
 * but its record could neither be synced nor held for later.
 */
export async function recorded(core: Core): Promise<void> {
  try {
    await core.ports.journal.sync();
    core.keptEnds.synced();
  } catch (error) {
    if (core.keptEnds.keepSignals()) return;
    const message = `the signal was delivered, but it could not be recorded: ${messageOf(error)}`;
    throw new Fault({ code: "UNAVAILABLE", message, fact: core.journalWatch.fact, cause: error });
  }
}

interface Meeting {
  readonly disposition: Disposition;
  /** Never rejects. */
  readonly heeded: Promise<void>;
}

/** Wakes the sleepers. Not called for a pause, which holds them. */
function wake(proc: Process): void {
  for (const wakeOne of proc.wakers) wakeOne();
}

function meet(core: Core, proc: Process, signal: Signal, graceMs?: number): Meeting {
  const signals = proc.signals ?? UNTOUCHED;
  const ended = proc.life.hasFinished;
  const state = ended ? "zombie" : proc.state;
  const disposition = dispositionOf(state, signals.blocked, signals.handlers, signal);
  switch (disposition) {
    case "default":
      byDefault(core, proc, signal, graceMs);
      if (signal === SIGNALS.SIGRESUME) wake(proc);
      break;
    case "pending":
      postpone(core, proc, signals, signal);
      break;
    case "ignored":
      // an exit that is being journalled no longer changes
      if (!ended) record(core, proc, signal, disposition);
      // the exit stands, but stops waiting for the disk
      else if (VERDICT[signal] !== undefined) proc.life.hurry();
      break;
    case "handler":
      wake(proc);
      return { disposition, heeded: byHandler(core, proc, signals, signal) };
  }
  return { disposition, heeded: OVER };
}

/**
 * Noted before any consequence of the signal. `paused` is the state after the signal: a later daemon restores it, and
 * the run time, from this record.
 */
function record(core: Core, proc: Process, signal: Signal, disposition: Disposition): void {
  const ranMs = Math.round(proc.halt.time.ms(core.ports.clock.mono()));
  const body = { signal, disposition, paused: proc.isPaused, ranMs };
  core.note(proc, "signal", body);
  core.keptEnds.signal({ proc: proc.seed.uuid, pid: proc.pid, kind: "signal", body });
}

function postpone(core: Core, proc: Process, signals: SignalState, signal: Signal): void {
  if (signals.pending.has(signal)) return;
  signals.pending.add(signal);
  record(core, proc, signal, "pending");
}

function byDefault(core: Core, proc: Process, signal: Signal, graceMs: number = graceOf(proc)): void {
  const mono = core.ports.clock.mono();
  const wasPaused = proc.isPaused;
  if (signal === SIGNALS.SIGPAUSE) proc.pause(mono);
  else proc.resume(mono);
  record(core, proc, signal, "default");
  if (proc.isPaused) core.snapshots.rests(proc);
  const body = bodyOf(proc);
  if (body.onSignal?.(core, proc, signal) !== true) endByVerdict(core, proc, signal, graceMs);
  // a stopped program of the host handles TERM and INT only once it is continued
  if (wasPaused && VERDICT[signal] !== undefined) body.onSignal?.(core, proc, SIGNALS.SIGRESUME);
}

function endByVerdict(core: Core, proc: Process, signal: Signal, graceMs: number): void {
  const verdict = VERDICT[signal];
  if (verdict === undefined) return;
  // KILL outranks an earlier TERM; otherwise the first verdict stands
  if (signal === SIGNALS.SIGKILL) proc.ending.overrule(verdict);
  else proc.ending.decide(verdict);
  endLive(core, proc, signal === SIGNALS.SIGTERM ? graceMs : Infinity);
}

/** A handler cannot act in a paused process, so a handled signal ends the pause, as the default action would. */
function byHandler(core: Core, proc: Process, signals: SignalState, signal: Signal): Promise<void> {
  if (signal !== SIGNALS.SIGPAUSE) proc.resume(core.ports.clock.mono());
  record(core, proc, signal, "handler");
  return heed(core, proc, signals, signal);
}

/** If the handler fails, that is logged and the default action is taken. */
async function heed(core: Core, proc: Process, signals: SignalState, signal: Signal): Promise<void> {
  try {
    const running = runHandler(core, proc, signals, signal);
    if (running !== undefined) await running;
  } catch (error) {
    if (proc.life.hasFinished) return;
    const words = `the handler of ${signalName(signal)} failed, the default acts: ${messageOf(error)}`;
    proc.log("warn", words, core.ports.clock.mono());
    byDefault(core, proc, signal);
  }
}
