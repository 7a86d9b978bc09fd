/** Runs units one after another, so that what a thread writes to the shared context in one unit is not interleaved. */
import { abortable } from "../../lib/abort.ts";

export class Units {
  #last: Promise<unknown> = Promise.resolve();

  /** If `signal` fires while the caller waits for its turn, `act` is not run; without a signal it always waits. */
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
