/** What a process has said about signals: which wait, which it handles itself. Made on first use. */
import type { Signal } from "../../abi/process.ts";
import type { OwnAction } from "./disposition.ts";

interface SignalView {
  /** By rising number. */
  readonly blocked: readonly Signal[];
  readonly pending: readonly Signal[];
  readonly handled: readonly Signal[];
}

export class SignalState {
  readonly blocked = new Set<Signal>();
  /** Blocked and sent: once, however often. */
  readonly pending = new Set<Signal>();
  readonly handlers = new Map<Signal, OwnAction>();
  /** Handlers under way, each with what ends the watch over it. At most LIMITS.handlersRunning. */
  readonly running = new Set<AbortController>();

  /** What was pending and waits no more, by rising number: the caller delivers it in the same step. */
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
    for (const watch of this.running) watch.abort();
    this.running.clear();
  }
}

function sorted(signals: Iterable<Signal>): Signal[] {
  return [...signals].sort((a, b) => a - b);
}
