/** The signal settings of a process: which signals are blocked, which it handles itself. Created on first use. */
import type { Signal } from "../../abi/process.ts";
import type { OwnAction } from "./disposition.ts";

interface SignalView {
  /** All three lists are sorted by rising number. */
  readonly blocked: readonly Signal[];
  readonly pending: readonly Signal[];
  readonly handled: readonly Signal[];
}

export class SignalState {
  readonly blocked = new Set<Signal>();
  /** Signals that were sent while blocked; each is kept once, however often it was sent. */
  readonly pending = new Set<Signal>();
  readonly handlers = new Map<Signal, OwnAction>();
  /** The controller of each running handler's timer. At most LIMITS.handlersRunning. */
  readonly running = new Set<AbortController>();

  /** The timers of signals whose settings end after a time. */
  readonly expiries = new Map<Signal, AbortController>();

  /** Returns the pending signals that are no longer blocked, by rising number: the caller delivers them at once. */
  unblock(signal: Signal): Signal[] {
    this.blocked.delete(signal);
    const due = sorted(this.pending).filter((each) => !this.blocked.has(each));
    for (const each of due) this.pending.delete(each);
    return due;
  }

  view(): SignalView {
    return {
      blocked: sorted(this.blocked),
      pending: sorted(this.pending),
      handled: sorted(this.handlers.keys()),
    };
  }

  clear(): void {
    this.blocked.clear();
    this.pending.clear();
    this.handlers.clear();
    for (const watch of [...this.running, ...this.expiries.values()]) watch.abort();
    this.running.clear();
    this.expiries.clear();
  }
}

function sorted(signals: Iterable<Signal>): Signal[] {
  return [...signals].sort((a, b) => a - b);
}
