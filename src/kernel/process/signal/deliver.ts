/**
 * The effect of a signal on a process: decided, recorded and carried out in one synchronous step, so that no concurrent
 * change of mask or handler loses or doubles it. By default TERM and INT cancel, KILL forces the end, PAUSE holds the
 * process at its next step, and RESUME ends the pause.
 *
 * A TERM that is blocked, ignored or handled does not end the process. A caller that needs the end passes a grace,
 * after which KILL follows whatever TERM did (children that end with their parent), or sends KILL itself (the
 * shutdown).
 */

import { Fault, messageOf } from "../../../abi/errors.ts";
import { PID_KERNEL, type Pid } from "../../../abi/ids.ts";
import {
  type Disposition,
  EXIT,
  type ExitStatus,
  SIGNALS,
  type Signal,
  signalName,
} from "../../../abi/process.ts";
import { dispositionOf, ENDING } from "../../ipc/disposition.ts";
import { SignalState } from "../../ipc/signal-state.ts";
import type { KeptEnd } from "../../ports/ends.ts";
import type { JournalHold } from "../../ports/journal-hold.ts";
import type { KernelPorts } from "../../ports/kernel-ports.ts";
import { bodyOf } from "../body.ts";
import { endLive, type Finishing, forceAfter, graceOf } from "../end/finish.ts";
import type { Process } from "../process.ts";
import { runHandler } from "./handler.ts";
import { type Notifying, notify } from "./notify.ts";

/** What recording signals durably needs of the kernel. */
export interface SignalKeeping {
  readonly ports: Pick<KernelPorts, "journal">;
  readonly keptEnds: { synced(): void; keepSignals(): boolean };
  readonly journalWatch: Pick<JournalHold<never>, "fact">;
}

/** What the effect of a signal needs of the kernel. */
export type Delivering = Finishing & Notifying & { readonly keptEnds: { signal(end: KeptEnd): void } };

/** The sender of a signal. */
interface Sender {
  readonly core: { readonly journalWatch: Pick<JournalHold<never>, "check"> };
  readonly self: { readonly pid: Pid };
}

const VERDICT: Readonly<Partial<Record<Signal, ExitStatus>>> = {
  1: EXIT.sigterm,
  2: EXIT.sigkill,
  3: EXIT.sigint,
};
/** The shared state of processes without settings of their own; never changed. */
const UNTOUCHED = new SignalState();
const OVER = Promise.resolve();

/** Unblocks the signal and delivers pending ones in the same step. Resolves when their handlers have finished. */
export async function unblock(core: Delivering, proc: Process, signal: Signal): Promise<void> {
  const due = proc.signals?.unblock(signal) ?? [];
  await Promise.all(due.map((each) => new Arrival(core, proc, each).heeded()));
}

/**
 * After `forMs` the signal is taken as by default again: its action is dropped, and it is unblocked. Replaces an earlier
 * time; undefined: there is none any more.
 */
export function expire(core: Delivering, proc: Process, signal: Signal, forMs: number | undefined): void {
  const signals = proc.ownSignals();
  const expiry = forMs === undefined ? undefined : new AbortController();
  signals.expires(signal, expiry);
  if (forMs === undefined || expiry === undefined) return;
  core.ports.clock.sleep(forMs, expiry.signal).then(
    () => {
      signals.expires(signal, undefined);
      signals.unhandle(signal);
      return unblock(core, proc, signal);
    },
    () => {},
  );
}

/**
 * Awaited before a signal is acknowledged to a client: acknowledged means durable. UNAVAILABLE: the signal has acted,
 * but its record could neither be synced nor held for later.
 */
export async function recorded(core: SignalKeeping): Promise<void> {
  try {
    await core.ports.journal.sync();
    core.keptEnds.synced();
  } catch (error) {
    if (core.keptEnds.keepSignals()) return;
    const message = `the signal was delivered, but it could not be recorded: ${messageOf(error)}`;
    throw new Fault({ code: "UNAVAILABLE", message, fact: core.journalWatch.fact, cause: error });
  }
}

/**
 * A signal that ends a process acts whatever the disk does; any other from the user is refused if it cannot be
 * recorded.
 */
export function checkKept({ core, self }: Sender, syscall: string, signal: Signal): void {
  if (self.pid === PID_KERNEL && !ENDING.has(signal)) core.journalWatch.check(syscall);
}

interface Meeting {
  readonly disposition: Disposition;
  /** Never rejects. */
  readonly heeded: Promise<void>;
}

/** One signal that reaches one process. */
export class Arrival {
  readonly #core: Delivering;
  readonly #proc: Process;
  readonly #signal: Signal;
  readonly #signals: SignalState;

  constructor(core: Delivering, proc: Process, signal: Signal) {
    this.#core = core;
    this.#proc = proc;
    this.#signal = signal;
    this.#signals = proc.signals ?? UNTOUCHED;
  }

  /**
   * The signal has acted when the call returns; handlers are not awaited. With `graceMs` (TERM only) KILL follows after
   * that time in any case; without it, a TERM that acts by default becomes KILL after the process's usual grace.
   */
  async deliver(graceMs?: number): Promise<Disposition> {
    const { disposition } = this.#meet(graceMs);
    if (this.#signal === SIGNALS.SIGTERM && graceMs !== undefined)
      forceAfter(this.#core, this.#proc, graceMs);
    return disposition;
  }

  /** The same, until its handler has finished. Never rejects once the signal has acted. */
  heeded(): Promise<void> {
    return this.#meet().heeded;
  }

  #meet(graceMs?: number): Meeting {
    const { hasFinished } = this.#proc.life;
    const state = hasFinished ? "zombie" : this.#proc.state;
    const disposition = dispositionOf(state, this.#signals, this.#signal);
    switch (disposition) {
      case "default":
        this.#byDefault(graceMs);
        if (this.#signal === SIGNALS.SIGRESUME) this.#proc.wake();
        break;
      case "pending":
        this.#postpone();
        break;
      case "ignored":
        // an exit that is being journalled no longer changes
        if (!hasFinished) this.#record(disposition);
        // the exit stands, but stops waiting for the disk
        else if (VERDICT[this.#signal] !== undefined) this.#proc.life.hurry();
        break;
      case "handler":
        // a message wakes by itself once it is there; whoever slept would find none before
        if (this.#signals.handlers.get(this.#signal) !== "message") this.#proc.wake();
        return { disposition, heeded: this.#byHandler() };
    }
    return { disposition, heeded: OVER };
  }

  /**
   * Noted before any consequence of the signal. `paused` is the state after the signal: a later daemon restores it, and
   * the run time, from this record.
   */
  #record(disposition: Disposition): void {
    const [core, proc] = [this.#core, this.#proc];
    const ranMs = Math.round(proc.halt.time.ms(core.ports.clock.mono()));
    const body = { signal: this.#signal, disposition, paused: proc.isPaused, ranMs };
    core.note(proc, "signal", body);
    core.keptEnds.signal({ proc: proc.seed.uuid, pid: proc.pid, kind: "signal", body });
  }

  #postpone(): void {
    if (this.#signals.postpone(this.#signal)) this.#record("pending");
  }

  #byDefault(graceMs: number = graceOf(this.#proc)): void {
    const [core, proc] = [this.#core, this.#proc];
    const mono = core.ports.clock.mono();
    const wasPaused = proc.isPaused;
    if (this.#signal === SIGNALS.SIGPAUSE) proc.pause(mono);
    else proc.resume(mono);
    this.#record("default");
    if (proc.isPaused) core.snapshots.rests(proc);
    const body = bodyOf(proc);
    if (body.onSignal?.(proc, this.#signal) !== true) this.#endByVerdict(graceMs);
    // a stopped program of the host handles TERM and INT only once it is continued
    if (wasPaused && VERDICT[this.#signal] !== undefined) body.onSignal?.(proc, SIGNALS.SIGRESUME);
  }

  #endByVerdict(graceMs: number): void {
    const verdict = VERDICT[this.#signal];
    if (verdict === undefined) return;
    // KILL outranks an earlier TERM; otherwise the first verdict stands
    if (this.#signal === SIGNALS.SIGKILL) this.#proc.ending.overrule(verdict);
    else this.#proc.ending.decide(verdict);
    endLive(this.#core, this.#proc, this.#signal === SIGNALS.SIGTERM ? graceMs : Infinity);
  }

  /** A handler cannot act in a paused process, so a handled signal ends the pause, as the default action would. */
  #byHandler(): Promise<void> {
    if (this.#signal !== SIGNALS.SIGPAUSE) this.#proc.resume(this.#core.ports.clock.mono());
    this.#record("handler");
    return this.#heed();
  }

  /** UNAVAILABLE: the message could not be delivered. */
  async #tell(signal: Signal): Promise<void> {
    const text = `${signalName(signal)} was sent to you. You take it as a message, so nothing else happened.`;
    if (await notify(this.#core, this.#proc, text)) return;
    throw new Fault({ code: "UNAVAILABLE", message: "its message could not be delivered" });
  }

  /** If the handler fails, that is logged and the default action is taken. */
  async #heed(): Promise<void> {
    const proc = this.#proc;
    const { clock } = this.#core.ports;
    try {
      const running = runHandler(proc, this.#signal, { clock, message: (signal) => this.#tell(signal) });
      if (running !== undefined) await running;
    } catch (error) {
      if (proc.life.hasFinished) return;
      const words = `the handler of ${signalName(this.#signal)} failed, the default acts: ${messageOf(error)}`;
      proc.log("warn", words, clock.mono());
      this.#byDefault();
    }
  }
}
