/** What the model sees of a process, for the user. */
import type { ContextStat, ViewChange, ViewRequest } from "../../abi/context.ts";
import type { Pid } from "../../abi/ids.ts";

export interface AskOptions {
  /** The environment of the client, for a resting session. */
  readonly env?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

export interface StatWish {
  /** Without the parts and the messages that were counted: what is in view then need not be read. */
  readonly isBrief?: boolean;
}

export interface ViewControl {
  /** Of a process that runs, rests or has ended. NOT_FOUND: no such process. INVALID: it is no agent. */
  stat(pid: Pid, wish?: StatWish): Promise<ContextStat>;
  /**
   * Resolves once it is done and recorded. A resting session is restored for it. CONFLICT: the process has ended, is
   * paused, or nothing would change, with the reason; NOT_FOUND: no such process, or nothing to undo.
   */
  ask(pid: Pid, request: ViewRequest, options: AskOptions): Promise<ViewChange>;
}
