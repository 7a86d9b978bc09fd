import { abortable } from "./abort.ts";

/** Lets at most `places` actions run at once; the others wait in order. How many may wait is for its users to bound. */
export class Semaphore {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(places: number) {
    this.#free = places;
  }

  /** Rejects with the reason of `signal` if that comes before its turn. */
  async pass<T>(act: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await this.#turn(signal);
    try {
      return await act();
    } finally {
      this.#next();
    }
  }

  async #turn(signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    if (signal === undefined) return promise;
    try {
      await abortable(promise, signal);
    } catch (error) {
      const at = this.#waiting.indexOf(resolve);
      // it was given its turn already
      if (at < 0) this.#next();
      else this.#waiting.splice(at, 1);
      throw error;
    }
  }

  #next(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free++;
    else next();
  }
}
