/** Locks that allow one writer at a time per real path of the host, across all processes of the daemon. */
import { cancelled } from "../driver-error.ts";

export class PathLocks {
  /** The last waiter or owner of each path's lock; removed when there is none. Bounded by the writes in progress. */
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

  /** Locks several paths, always in sorted order, so that callers cannot deadlock. */
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
