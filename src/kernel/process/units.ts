/** One after another: what a thread writes to the shared context in one go is not split by what another writes. */
import { abortable } from "../../lib/abort.ts";

export class Units {
  #last: Promise<unknown> = Promise.resolve();

  /** Whoever gives up while it waits does not act; without a signal its turn is waited for. */
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
