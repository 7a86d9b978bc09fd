/** The signal settings of a process: which signals are blocked, which it handles itself. Created on first use. */

import type { Signal } from "../../abi/process.ts";
import { ABORTED } from "../../lib/abort.ts";
import type { OwnAction } from "./disposition.ts";

interface SignalView {
  /** All three lists are sorted by rising number. */
  readonly blocked: readonly Signal[];
  readonly pending: readonly Signal[];
  readonly handled: readonly Signal[];
}

export class SignalState {
  readonly #blocked = new Set<Signal>();
  readonly #pending = new Set<Signal>();
  readonly #handlers = new Map<Signal, OwnAction>();
  readonly #running = new Set<AbortController>();
  /** The timers of signals whose settings end after a time. */
  readonly #expiries = new Map<Signal, AbortController>();

  get blocked(): ReadonlySet<Signal> {
    return this.#blocked;
  }

  /** Signals that were sent while blocked; each is kept once, however often it was sent. */
  get pending(): ReadonlySet<Signal> {
    return this.#pending;
  }

  get handlers(): ReadonlyMap<Signal, OwnAction> {
    return this.#handlers;
  }

  /** How many handlers run. At most LIMITS.handlersRunning. */
  get running(): number {
    return this.#running.size;
  }

  block(signal: Signal): void {
    this.#blocked.add(signal);
  }

  /** Returns the pending signals that are no longer blocked, by rising number: the caller delivers them at once. */
  unblock(signal: Signal): Signal[] {
    this.#blocked.delete(signal);
    const due = sorted(this.#pending).filter((each) => !this.#blocked.has(each));
    for (const each of due) this.#pending.delete(each);
    return due;
  }

  /** False: it is pending already. */
  postpone(signal: Signal): boolean {
    if (this.#pending.has(signal)) return false;
    this.#pending.add(signal);
    return true;
  }

  handle(signal: Signal, action: OwnAction): void {
    this.#handlers.set(signal, action);
  }

  unhandle(signal: Signal): void {
    this.#handlers.delete(signal);
  }

  /** `watch` times a handler that begins to run; the returned function ends both. */
  ran(watch: AbortController): () => void {
    this.#running.add(watch);
    return () => {
      this.#running.delete(watch);
      watch.abort(ABORTED);
    };
  }

  /** Replaces the timer after which the signal is taken as by default; undefined: there is none any more. */
  expires(signal: Signal, timer: AbortController | undefined): void {
    this.#expiries.get(signal)?.abort(ABORTED);
    if (timer === undefined) this.#expiries.delete(signal);
    else this.#expiries.set(signal, timer);
  }

  view(): SignalView {
    return {
      blocked: sorted(this.#blocked),
      pending: sorted(this.#pending),
      handled: sorted(this.#handlers.keys()),
    };
  }

  clear(): void {
    this.#blocked.clear();
    this.#pending.clear();
    this.#handlers.clear();
    for (const watch of [...this.#running, ...this.#expiries.values()]) watch.abort(ABORTED);
    this.#running.clear();
    this.#expiries.clear();
  }
}

function sorted(signals: Iterable<Signal>): Signal[] {
  return [...signals].sort((a, b) => a - b);
}
