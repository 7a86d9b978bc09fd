/** The events of the binary wire: what happened to named programs, and what programs have published. */

import type { EventIds } from "../../abi/native.ts";
import type { RequestMark } from "../../abi/request-mark.ts";

export interface KernelEvent extends EventIds {
  readonly event: string;
  /** The lsn of its record: rising, never reused. It is durable before anybody is told. */
  readonly seq: number;
  /** ms since the epoch. */
  readonly at: number;
  /** The process that it is about. */
  readonly pid?: number;
  readonly id?: string;
  /** Only the newest of its process and name matters. */
  readonly retain?: "latest";
  readonly data: object;
}

/** `request`: the client request that makes it, if that has a key. */
export type EventDraft = Omit<KernelEvent, "seq" | "at"> & { readonly request?: RequestMark | undefined };

/** What a request with a key has published. */
export interface PublishedBy {
  readonly digest: string;
  readonly event: KernelEvent;
}

/** Where a reader of events is: after the event `seq`; `record`: where to read on in the journal, if that is known. */
export interface EventPlace {
  readonly seq: number;
  readonly record?: number;
}

/** What stands in the place of events that were compacted: the data of `event.compacted`. */
export interface Compacted {
  readonly from: number;
  readonly to: number;
  readonly counts: Readonly<Record<string, number>>;
  /** Times of the first and the last of them, ms since the epoch. */
  readonly first: number;
  readonly last: number;
  /** SHA-256 of the removed events: the JSON of each, followed by a line feed. */
  readonly digest: string;
}

/** `kept`: events in the range that stay, of processes and intents that go on. */
export interface Compaction {
  readonly from: number;
  readonly to: number;
  readonly removed: number;
  readonly kept: number;
}

export interface EventLog {
  /** The newest event; without any, the newest record of earlier daemons. */
  head(): Promise<number>;
  /** The oldest seq from which on nothing was compacted. */
  floor(): Promise<number>;
  /** Resolves with its seq once it is synced. UNAVAILABLE: the disk refuses. */
  publish(draft: EventDraft): Promise<number>;
  /**
   * The next events after a place; empty: there are none yet. Old ones are read from the journal. In the place of
   * compacted ones comes one `event.compacted`; `whole`: all as they were.
   */
  read(
    after: EventPlace,
    how?: "whole",
  ): Promise<{ readonly events: readonly KernelEvent[]; readonly next: EventPlace }>;
  /** What the request of this mark has published, also by an earlier daemon; undefined: nothing within a day. */
  requested(id: string): Promise<PublishedBy | undefined>;
  /** Resolves at the next event. */
  more(): Promise<void>;
}
