/** The restarts of one supervisor within a sliding window. Holds at most `maxRestarts` times; time is passed in. */
import type { Intensity } from "../abi/supervise.ts";

export class RestartWindow {
  readonly #intensity: Intensity;
  /** Monotonic ms, rising. */
  readonly #times: number[];

  /** `times`: of restarts so far, also before this daemon: negative then. */
  constructor(intensity: Intensity, times: readonly number[] = []) {
    this.#intensity = intensity;
    this.#times = [...times];
  }

  /** Restarts in the last `windowMs`, both ends included. */
  count(now: number): number {
    const oldest = now - this.#intensity.windowMs;
    while ((this.#times[0] ?? oldest) < oldest) this.#times.shift();
    return this.#times.length;
  }

  hasRoom(now: number): boolean {
    return this.count(now) < this.#intensity.maxRestarts;
  }

  /** The count with this one. Only where there is room. */
  add(now: number): number {
    this.#times.push(now);
    return this.#times.length;
  }
}
