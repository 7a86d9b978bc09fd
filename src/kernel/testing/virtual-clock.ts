/** A clock that stands still until the test advances it. Nothing really sleeps: waiting is a list of dates. */
import type { Clock } from "../../abi/program.ts";
import { reasonOf } from "../../lib/abort.ts";

interface Sleep {
  readonly at: number;
  readonly wake: () => void;
}

export class VirtualClock implements Clock {
  #mono = 0;
  #wallAtStart = 1_700_000_000_000;
  readonly #sleeps = new Set<Sleep>();

  /** Sleeps that have not ended. */
  get pending(): number {
    return this.#sleeps.size;
  }

  now(): number {
    return this.#wallAtStart + this.#mono;
  }

  /** Sets the wall clock ahead, or back if `ms` is negative. */
  jump(ms: number): void {
    this.#wallAtStart += ms;
  }

  mono(): number {
    return this.#mono;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.reject(reasonOf(signal));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const abort = (event: Event): void => {
      this.#sleeps.delete(sleep);
      reject(reasonOf(event.target as AbortSignal));
    };
    const wake = (): void => {
      signal?.removeEventListener("abort", abort);
      resolve();
    };
    const sleep = { at: this.#mono + ms, wake };
    this.#sleeps.add(sleep);
    signal?.addEventListener("abort", abort, { once: true });
    return promise;
  }

  /** Wakes the sleeps that are due within `ms`, in order of their dates; each runs before the next one wakes. */
  async advance(ms: number): Promise<void> {
    const end = this.#mono + ms;
    await settle();
    for (let next = this.#next(end); next !== undefined; next = this.#next(end)) {
      this.#mono = next.at;
      this.#sleeps.delete(next);
      next.wake();
      await settle();
    }
    this.#mono = end;
  }

  #next(end: number): Sleep | undefined {
    const due = [...this.#sleeps].filter((sleep) => sleep.at <= end);
    return due.sort((a, b) => a.at - b.at)[0];
  }
}

/** Runs everything that can run without time passing, local I/O included: the more `turns`, the further it gets. */
export async function settle(turns = 3): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
}
