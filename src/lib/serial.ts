/** Runs actions one after another, in the order of the calls, past one that fails. Its owner bounds the callers. */
import { abortable } from "./abort.ts";

export class Serial {
  #last: Promise<unknown> = Promise.resolve();

  /** If `signal` fires while the caller waits, it leaves at once and `act` is not run; without a signal it always waits. */
  run<T>(act: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const before = this.#last;
    const turn = signal === undefined ? before : abortable(before, signal);
    const result = turn.then(() => {
      signal?.throwIfAborted();
      return act();
    });
    const settled = result.then(
      () => {},
      () => {},
    );
    this.#last = before.then(() => settled);
    return result;
  }
}
