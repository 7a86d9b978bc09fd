/** One writer at a time for each real path of the host, across all processes of the daemon. */
import { cancelled } from "../driver-error.ts";

export class PathLocks {
  /** The last in line for each path; gone when nobody waits or holds. Bounded by the writes under way. */
  readonly #tails = new Map<string, Promise<void>>();

  get size(): number {
    return this.#tails.size;
  }

  /** Runs `act` alone on `path`. CANCELLED while waiting, if `signal` fires. */
  async hold<T>(path: string, signal: AbortSignal, act: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(path) ?? Promise.resolve();
    const { promise: done, resolve: release } = Promise.withResolvers<void>();
    const tail = before.then(() => done);
    this.#tails.set(path, tail);
    try {
      await turn(before, signal);
      return await act();
    } finally {
      release();
      void tail.then(() => {
        if (this.#tails.get(path) === tail) this.#tails.delete(path);
      });
    }
  }

  /** Of several paths, always in the same order: nobody waits in a circle. */
  async holdAll<T>(paths: readonly string[], signal: AbortSignal, act: () => Promise<T>): Promise<T> {
    const [first, ...rest] = [...new Set(paths)].sort();
    if (first === undefined) return act();
    return this.hold(first, signal, () => this.holdAll(rest, signal, act));
  }
}

function turn(before: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(cancelled("Write"));
    if (signal.aborted) return onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    void before.then(() => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    });
  });
}
