/**
 * How a long walk shares its thread: it yields after each portion, and rests so long that it stays within its share.
 * Aborts with the signal's reason, between two portions.
 */
import { setImmediate as turn } from "node:timers/promises";

export interface PaceClock {
  mono(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export class Pace {
  readonly #clock: PaceClock;
  readonly #share: number;
  readonly #signal: AbortSignal | undefined;
  #began: number;

  /** `share`: the share of the thread's time, above 0; 1 only yields. */
  constructor(clock: PaceClock, share: number, signal?: AbortSignal) {
    this.#clock = clock;
    this.#share = share;
    this.#signal = signal;
    this.#began = clock.mono();
  }

  throwIfAborted(): void {
    this.#signal?.throwIfAborted();
  }

  /** Call it after each portion. */
  async next(): Promise<void> {
    this.throwIfAborted();
    await this.rest(this.#signal);
    this.throwIfAborted();
  }

  /** Like `next`, for work that must not be interrupted. */
  async rest(signal?: AbortSignal): Promise<void> {
    const restMs = (this.#clock.mono() - this.#began) * (1 / this.#share - 1);
    if (restMs >= 1) await this.#clock.sleep(restMs, signal);
    else await turn();
    this.#began = this.#clock.mono();
  }
}
