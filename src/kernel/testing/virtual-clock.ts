/** A clock that stands still until it is moved. Nothing sleeps: waiting is a list of dates. */
import type { Clock } from "../../abi/program.ts";
import { reasonOf } from "../../lib/abort.ts";

interface Sleep {
  readonly at: number;
  readonly resolve: () => void;
}

export class VirtualClock implements Clock {
  #mono = 0;
  readonly #sleeps = new Set<Sleep>();

  /** Sleeps that nobody has ended. */
  get pending(): number {
    return this.#sleeps.size;
  }

  now(): number {
    return 1_700_000_000_000 + this.#mono;
  }

  mono(): number {
    return this.#mono;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return Promise.reject(reasonOf(signal));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const sleep = { at: this.#mono + ms, resolve };
    this.#sleeps.add(sleep);
    signal?.addEventListener("abort", () => this.#sleeps.delete(sleep) && reject(reasonOf(signal)), {
      once: true,
    });
    return promise;
  }

  /** Wakes in order of their dates those who are due within `ms`; each has its turn before the next. */
  async advance(ms: number): Promise<void> {
    const end = this.#mono + ms;
    await settle();
    for (let next = this.#next(end); next !== undefined; next = this.#next(end)) {
      this.#mono = next.at;
      this.#sleeps.delete(next);
      next.resolve();
      await settle();
    }
    this.#mono = end;
  }

  #next(end: number): Sleep | undefined {
    const due = [...this.#sleeps].filter((sleep) => sleep.at <= end);
    return due.sort((a, b) => a.at - b.at)[0];
  }
}

/** Lets everything run that can run without time going by. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}
