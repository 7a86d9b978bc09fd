/**
 * What a signal does to a process: decided, recorded and done in one synchronous step, so that a mask or handler that
 * changes meanwhile neither loses nor doubles it. By default TERM and INT cancel, KILL is forced, PAUSE holds at the next
 * step, RESUME goes on.
 *
 * A TERM that is blocked, ignored or handled does not end the process. Who must have its end sends it with a grace: then
 * KILL follows, whatever TERM met (children that end with their parent), or sends KILL itself (the shutdown).
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
/** Of a process that has said nothing; nothing is ever put into it. */
const UNTOUCHED = new SignalState();
const OVER = Promise.resolve();

/**
 * It has acted when the call returns; nothing is waited for. With `graceMs` (TERM only) KILL follows after it; without, a
 * TERM that acts by default becomes KILL after the usual 10 s.
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

/** What waited for this signal to be unblocked is delivered in the same step. Resolves when its handlers are over. */
export async function unblock(core: Core, proc: Process, signal: Signal): Promise<void> {
  const due = proc.signals?.unblock(signal) ?? [];
  await Promise.all(due.map((each) => meet(core, proc, each).heeded));
}

/**
 * Acknowledged means durable: awaited before a client hears that a signal was sent. UNAVAILABLE: it has acted all the same,
 * and its record is kept for when the disk takes it.
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

/** A pause wakes nobody: it holds. */
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
      // an exit that is being journalled is not changed any more
      if (!ended) record(core, proc, signal, disposition);
      // its exit stands, but is not waited for any longer
      else if (VERDICT[signal] !== undefined) proc.life.hurry();
      break;
    case "handler":
      wake(proc);
      return { disposition, heeded: byHandler(core, proc, signals, signal) };
  }
  return { disposition, heeded: OVER };
}

/** Noted before what follows from it. `paused` is how it leaves the process: that, and how long it ran, outlives the daemon. */
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
  // a program of the host that is stopped hears TERM and INT only when it goes on
  if (wasPaused && VERDICT[signal] !== undefined) body.onSignal?.(core, proc, SIGNALS.SIGRESUME);
}

function endByVerdict(core: Core, proc: Process, signal: Signal, graceMs: number): void {
  const verdict = VERDICT[signal];
  if (verdict === undefined) return;
  // KILL outranks a TERM that is under way; otherwise the first verdict stands.
  if (signal === SIGNALS.SIGKILL) proc.ending.overrule(verdict);
  else proc.ending.decide(verdict);
  endLive(core, proc, signal === SIGNALS.SIGTERM ? graceMs : Infinity);
}

/** A handler can do nothing in a process that is held: what it handles ends the pause, as the default would. */
function byHandler(core: Core, proc: Process, signals: SignalState, signal: Signal): Promise<void> {
  if (signal !== SIGNALS.SIGPAUSE) proc.resume(core.ports.clock.mono());
  record(core, proc, signal, "handler");
  return heed(core, proc, signals, signal);
}

/** A handler that fails is logged, and the default acts. */
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
