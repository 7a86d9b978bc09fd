/** A clock that a test moves by hand. */
import type { Clock } from "../../abi/program.ts";

interface Sleeper {
  readonly at: number;
  wake(): void;
}

export class ManualClock implements Clock {
  #mono = 1_000;
  readonly #sleepers = new Set<Sleeper>();

  /** Sleeps under way: a test counts that none is left. */
  get sleeping(): number {
    return this.#sleepers.size;
  }

  now(): number {
    return 1_700_000_000_000 + this.#mono;
  }

  mono(): number {
    return this.#mono;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const abort = () => {
        this.#sleepers.delete(sleeper);
        reject(signal?.reason);
      };
      const sleeper: Sleeper = {
        at: this.#mono + ms,
        wake: () => {
          this.#sleepers.delete(sleeper);
          signal?.removeEventListener("abort", abort);
          resolve();
        },
      };
      signal?.addEventListener("abort", abort, { once: true });
      this.#sleepers.add(sleeper);
    });
  }

  /** Wakes whoever is due, in order; each gets to run, and may sleep again within the span, before the next. */
  async advance(ms: number): Promise<void> {
    const end = this.#mono + ms;
    for (;;) {
      await settle();
      const due = [...this.#sleepers].sort((a, b) => a.at - b.at)[0];
      if (due === undefined || due.at > end) break;
      this.#mono = Math.max(this.#mono, due.at);
      due.wake();
    }
    this.#mono = end;
    await settle();
  }
}

/** Lets everything run that is ready, I/O included. */
export async function settle(turns = 3): Promise<void> {
  for (let i = 0; i < turns; i++) await new Promise((resolve) => setImmediate(resolve));
}
