/**
 * The reason of an abort that needs no other: each `abort()` without a reason makes an exception with a stack of its
 * own, which costs more than all the rest of the abort.
 */
export const ABORTED = new DOMException("This operation was aborted", "AbortError");

/**
 * Links several signals into one, without AbortSignal.any, which keeps a reference in every source for as long as the
 * source lives; a process's own signal lives for days.
 */
export interface LinkedSignal extends Disposable {
  readonly signal: AbortSignal;
  /** Aborts this signal, but none of its sources. */
  abort(): void;
}

/**
 * A signal that aborts when the first of `sources` does. Dispose it after use; then no listener is left on the sources. There is none
 * until the signal is asked for, either: most calls settle without.
 */
export function linkSignals(...sources: readonly (AbortSignal | undefined)[]): LinkedSignal {
  return new Linked(sources);
}

class Linked implements LinkedSignal {
  #sources: readonly (AbortSignal | undefined)[];
  #controller: AbortController | undefined;

  constructor(sources: readonly (AbortSignal | undefined)[]) {
    this.#sources = sources;
  }

  get signal(): AbortSignal {
    this.#controller ??= this.#linked();
    return this.#controller.signal;
  }

  abort(): void {
    this.#controller ??= this.#linked();
    this.#controller.abort(ABORTED);
  }

  [Symbol.dispose](): void {
    if (this.#controller !== undefined)
      for (const source of this.#sources) source?.removeEventListener("abort", this.#fire);
    this.#sources = [];
  }

  #linked(): AbortController {
    const controller = new AbortController();
    for (const source of this.#sources) {
      if (source?.aborted === true) controller.abort(source.reason);
      else source?.addEventListener("abort", this.#fire, { once: true });
    }
    return controller;
  }

  readonly #fire = (event: Event): void => this.#controller?.abort((event.target as AbortSignal).reason);
}

/** Settles as `promise` does, or rejects with the signal's reason if that comes first. Leaves no listener. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    promise.catch(() => {});
    return Promise.reject(reasonOf(signal));
  }
  return new Promise<T>((resolve, reject) => {
    const fire = (): void => reject(reasonOf(signal));
    signal.addEventListener("abort", fire, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", fire));
  });
}

export function reasonOf(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  return reason instanceof Error ? reason : ABORTED;
}
