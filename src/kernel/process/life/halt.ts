/** What holds up a process: a pause, the disk, questions to the user. */
import type { Hold } from "../../../abi/process.ts";
import type { Clock } from "../../../abi/program.ts";
import { abortable } from "../../../lib/abort.ts";
import { MAX_TIMER_MS } from "../../../lib/time/max-timer.ts";
import { Quiescence } from "./quiescence.ts";

/** The reason of a pause. */
export type Reason = Exclude<Hold, "disk">;

interface Pause {
  readonly why: Reason;
  readonly over: PromiseWithResolvers<void>;
}

export class Halt {
  /** Called after each change. */
  readonly #changed: () => void;
  readonly #time = new Stopwatch();
  readonly quiescence = new Quiescence();
  #pause: Pause | null = null;
  /** Set while the disk refuses writes and the process waits to begin something. */
  #stall: PromiseWithResolvers<void> | null = null;
  /** Set while it waits for its turn to begin. */
  #queue: PromiseWithResolvers<void> | null = null;
  #openAsks = 0;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  get isPaused(): boolean {
    return this.#pause !== null;
  }

  /** Why the process is halted; null: not halted. */
  get why(): Hold | null {
    if (this.#pause !== null) return this.#pause.why;
    return this.#stall === null ? null : "disk";
  }

  /** It has not begun: others of its tree run. */
  get isQueued(): boolean {
    return this.#queue !== null;
  }

  /** Holds it before its first step. Idempotent. */
  enqueue(mono: number): void {
    if (this.#queue !== null) return;
    this.#time.hold(mono);
    this.#queue = Promise.withResolvers();
    this.#changed();
  }

  /** Its turn has come. Idempotent. */
  admit(mono: number): void {
    if (this.#queue === null) return;
    this.#queue.resolve();
    this.#queue = null;
    this.#go(mono);
  }

  /** Resolves once its turn has come; rejects when `signal` fires. */
  async untilAdmitted(signal: AbortSignal): Promise<void> {
    if (this.#queue !== null) await this.quiescence.hold(abortable(this.#queue.promise, signal));
  }

  /** The number of questions that wait for the user. */
  get openAsks(): number {
    return this.#openAsks;
  }

  get time(): Pick<Stopwatch, "start" | "carryOver" | "ms"> {
    return this.#time;
  }

  /** Holds the program at its next step. False: already paused. */
  pause(mono: number, why: Reason = "signal"): boolean {
    if (this.#pause !== null) return false;
    this.#time.hold(mono);
    this.#pause = { why, over: Promise.withResolvers() };
    this.#changed();
    return true;
  }

  /** Ends the pause. False: not paused. */
  resume(mono: number): boolean {
    if (this.#pause === null) return false;
    this.#pause.over.resolve();
    this.#pause = null;
    this.#go(mono);
    return true;
  }

  /** Changes the reason of the current pause. */
  explain(why: Reason): void {
    if (this.#pause !== null) this.#pause = { ...this.#pause, why };
  }

  /** Like a pause, its time does not count; but nobody requested it, and no signal ends it. Idempotent. */
  stall(mono: number): void {
    if (this.#stall !== null) return;
    this.#time.hold(mono);
    this.#stall = Promise.withResolvers();
    this.#changed();
  }

  unstall(mono: number): void {
    if (this.#stall === null) return;
    this.#stall.resolve();
    this.#stall = null;
    this.#go(mono);
  }

  /** Counts a question to the user as open while `wait` runs. */
  async asking<T>(wait: () => Promise<T>): Promise<T> {
    this.#openAsks++;
    this.#changed();
    try {
      return await wait();
    } finally {
      this.#openAsks--;
      this.#changed();
    }
  }

  /** Resolves when the pause ends, or else the wait for the disk. null: not halted. */
  get end(): Promise<void> | null {
    return (this.#pause?.over ?? this.#queue ?? this.#stall)?.promise ?? null;
  }

  /** Resolves once the process is not paused; rejects when `signal` fires. */
  async untilResumed(signal: AbortSignal): Promise<void> {
    while (this.#pause !== null) await this.quiescence.hold(abortable(this.#pause.over.promise, signal));
  }

  /** The same as `untilResumed`, from within a call. */
  async suspended(signal: AbortSignal): Promise<void> {
    while (this.#pause !== null) await this.quiescence.suspend(abortable(this.#pause.over.promise, signal));
  }

  /** Resolves once the process has run for `ms` in total; pauses do not count. */
  async untilRan(ms: number, clock: Pick<Clock, "mono" | "sleep">, signal: AbortSignal): Promise<void> {
    const leftMs = (): number => ms - this.#time.ms(clock.mono());
    for (let left = leftMs(); left > 0; left = leftMs()) {
      const { end } = this;
      if (end === null) await clock.sleep(Math.min(left, MAX_TIMER_MS), signal);
      else await abortable(end, signal);
    }
  }

  #go(mono: number): void {
    if (this.why === null && !this.isQueued) this.#time.release(mono);
    this.#changed();
  }
}

/** How long a process has run, without pauses and the time between two daemons. Takes monotonic milliseconds. */
class Stopwatch {
  /** null: not started. */
  #startedMono: number | null = null;
  #beforeMs = 0;
  #heldSince: number | null = null;
  #heldMs = 0;

  start(mono: number): void {
    this.#startedMono = mono;
    this.#heldMs = 0;
  }

  /** Milliseconds that it ran under an earlier daemon. */
  carryOver(ms: number): void {
    this.#beforeMs = ms;
  }

  /** Idempotent. */
  hold(mono: number): void {
    this.#heldSince ??= mono;
  }

  release(mono: number): void {
    this.#heldMs += this.#sinceHeld(mono);
    this.#heldSince = null;
  }

  ms(mono: number): number {
    if (this.#startedMono === null) return this.#beforeMs;
    return this.#beforeMs + mono - this.#startedMono - this.#heldMs - this.#sinceHeld(mono);
  }

  /** A pause before the start does not count against the run. */
  #sinceHeld(mono: number): number {
    return this.#heldSince === null ? 0 : mono - Math.max(this.#heldSince, this.#startedMono ?? 0);
  }
}
