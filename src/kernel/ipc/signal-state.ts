/** What a process has said about signals: which wait, which it handles itself. Made on first use. */
import type { Signal, SignalAction } from "../../abi/process.ts";

export class SignalState {
  readonly blocked = new Set<Signal>();
  /** Blocked and sent: once, however often. */
  readonly pending = new Set<Signal>();
  readonly handlers = new Map<Signal, Exclude<SignalAction, "default">>();

  clear(): void {
    this.blocked.clear();
    this.pending.clear();
    this.handlers.clear();
  }
}
