/** Subscriptions to the events and the log of a process. */
import type { LogEntry } from "../../abi/events.ts";

/** A bounded stream of events with one reader. Ends when the process ends or `close` is called. */
export interface Subscription<T> extends AsyncIterable<T> {
  /** Events lost because the queue was full. */
  readonly dropped: number;
  /** The reader is gone: nothing is queued for it any more. Idempotent. */
  close(): void;
}

/** A piece of a log: a line logged by an agent, or bytes written by a native program. */
export type LogPiece = { readonly entry: LogEntry } | { readonly data: Uint8Array };
