/** How late the event loop has been lately. The measuring is native: it runs no JavaScript while nobody asks. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Clock } from "../../abi/program.ts";

/** A tick that comes on time counts as this much delay. */
const TICK_MS = 20;
const WINDOW_MS = 5_000;

export interface DelayHistogram {
  /** Nanoseconds, the tick included. */
  readonly max: number;
  reset(): void;
  enable(): boolean;
  disable(): boolean;
}

export class LoopLag {
  readonly #clock: Pick<Clock, "mono">;
  readonly #delays: DelayHistogram;
  #since: number;
  #before = 0;

  constructor(
    clock: Pick<Clock, "mono">,
    delays: DelayHistogram = monitorEventLoopDelay({ resolution: TICK_MS }),
  ) {
    this.#clock = clock;
    this.#delays = delays;
    this.#since = clock.mono();
  }

  start(): void {
    this.#delays.enable();
  }

  /** Of the last 5 seconds or a little more, in milliseconds; asked rarely, since it was asked last. */
  longestMs(): number {
    const longest = Math.max(0, this.#delays.max / 1e6 - TICK_MS);
    const answer = Math.max(longest, this.#before);
    const now = this.#clock.mono();
    if (now - this.#since < WINDOW_MS) return answer;
    this.#since = now;
    this.#before = longest;
    this.#delays.reset();
    return answer;
  }

  stop(): void {
    this.#delays.disable();
  }
}
