/** Subscriptions to the events and the log of a process. */
import type { LogEntry } from "../../abi/events.ts";

/** A bounded stream of events with one reader. Ends when the process does or `close` is called. */
export interface Subscription<T> extends AsyncIterable<T> {
  /** Events the queue had no room for; they are lost. */
  readonly dropped: number;
  /** The reader goes away: nothing is kept for it any more. Idempotent. */
  close(): void;
}

/** A piece of a log: a line an agent said, or bytes a native program wrote. */
export type LogPiece = { readonly entry: LogEntry } | { readonly data: Uint8Array };
