/**
 * The delay of the event loop in the last seconds, independent of who reads it and how rarely. The measurement is
 * native.
 */

import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Clock } from "../../abi/program.ts";
import { ABORTED } from "../../lib/abort.ts";

/** A tick that is on time counts as this much delay. */
const TICK_MS = 20;
const WINDOW_MS = 5_000;

export interface DelayHistogram {
  /** In nanoseconds, including the tick. */
  readonly max: number;
  reset(): void;
  enable(): boolean;
  disable(): boolean;
}

export class LoopLag {
  readonly #clock: Pick<Clock, "sleep">;
  readonly #delays: DelayHistogram;
  readonly #stop = new AbortController();
  #before = 0;

  constructor(
    clock: Pick<Clock, "sleep">,
    delays: DelayHistogram = monitorEventLoopDelay({ resolution: TICK_MS }),
  ) {
    this.#clock = clock;
    this.#delays = delays;
  }

  start(): void {
    this.#delays.enable();
    // the loop ends with the signal
    void this.#roll(this.#stop.signal).catch(() => {});
  }

  /** The longest delay of the last 5 to 10 seconds, in milliseconds. */
  longestMs(): number {
    return Math.max(this.#longest(), this.#before);
  }

  stop(): void {
    this.#stop.abort(ABORTED);
    this.#delays.disable();
  }

  #longest(): number {
    return Math.max(0, this.#delays.max / 1e6 - TICK_MS);
  }

  async #roll(signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.#clock.sleep(WINDOW_MS, signal);
      this.#before = this.#longest();
      this.#delays.reset();
    }
  }
}
