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
 * A signal that aborts when the first of `sources` does. Dispose it after use; then no listener is left on the sources.
 */
export function linkSignals(...sources: readonly (AbortSignal | undefined)[]): LinkedSignal {
  const live = sources.filter((source) => source !== undefined);
  const controller = new AbortController();
  const fire = (event: Event): void => controller.abort((event.target as AbortSignal).reason);
  for (const source of live) {
    if (source.aborted) controller.abort(source.reason);
    else source.addEventListener("abort", fire, { once: true });
  }
  const dispose = (): void => {
    for (const source of live) source.removeEventListener("abort", fire);
  };
  const abort = (): void => controller.abort(ABORTED);
  return { signal: controller.signal, abort, [Symbol.dispose]: dispose };
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
