/** What keeps a process from going on: a pause, the disk, questions to a person. */
import type { Hold } from "../../../abi/process.ts";
import { abortable } from "../../../lib/abort.ts";
import { Stillness } from "./stillness.ts";
import { Stopwatch } from "./stopwatch.ts";

/** Why it is paused. */
export type Reason = Exclude<Hold, "disk">;

interface Pause {
  readonly why: Reason;
  readonly over: PromiseWithResolvers<void>;
}

export class Halt {
  /** Hears of each change. */
  readonly #changed: () => void;
  readonly #time = new Stopwatch();
  readonly stillness = new Stillness();
  #pause: Pause | null = null;
  /** The disk takes nothing, and the process waits to begin something. */
  #stall: PromiseWithResolvers<void> | null = null;
  #openAsks = 0;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  get isPaused(): boolean {
    return this.#pause !== null;
  }

  /** Why it is halted; null: it is not. */
  get why(): Hold | null {
    if (this.#pause !== null) return this.#pause.why;
    return this.#stall === null ? null : "disk";
  }

  /** Questions of the gate that wait for a person. */
  get openAsks(): number {
    return this.#openAsks;
  }

  get time(): Pick<Stopwatch, "start" | "carryOver" | "ms"> {
    return this.#time;
  }

  /** Holds the program at its next step. False: it was paused already. */
  pause(mono: number, why: Reason = "signal"): boolean {
    if (this.#pause !== null) return false;
    this.#time.hold(mono);
    this.#pause = { why, over: Promise.withResolvers() };
    this.#changed();
    return true;
  }

  /** False: it was not paused. */
  resume(mono: number): boolean {
    if (this.#pause === null) return false;
    this.#pause.over.resolve();
    this.#pause = null;
    this.#go(mono);
    return true;
  }

  /** Of a pause under way. */
  explain(why: Reason): void {
    if (this.#pause !== null) this.#pause = { ...this.#pause, why };
  }

  /** As a pause, but nobody's wish: its time does not count, and no signal ends it. Twice is once. */
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

  /** A question waits for a person while `wait` does. */
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

  /** Of the pause, or else of the disk's: resolves when it ends. null: nothing halts it. */
  get end(): Promise<void> | null {
    return (this.#pause?.over ?? this.#stall)?.promise ?? null;
  }

  /** Returns when it is not paused; rejects when `signal` fires. */
  async untilResumed(signal: AbortSignal): Promise<void> {
    while (this.#pause !== null) await this.stillness.hold(abortable(this.#pause.over.promise, signal));
  }

  /** The same within a call. */
  async suspended(signal: AbortSignal): Promise<void> {
    while (this.#pause !== null) await this.stillness.suspend(abortable(this.#pause.over.promise, signal));
  }

  #go(mono: number): void {
    if (this.why === null) this.#time.release(mono);
    this.#changed();
  }
}
