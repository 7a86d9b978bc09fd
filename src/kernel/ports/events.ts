/** The events of the binary wire: what happened to named programs, and what programs have published. */

export interface KernelEvent {
  readonly event: string;
  /** The lsn of its record: rising, never reused. It is durable before anybody is told. */
  readonly seq: number;
  /** ms since the epoch. */
  readonly at: number;
  /** The process that it is about. */
  readonly pid?: number;
  readonly id?: string;
  readonly intentId?: string;
  readonly correlationId?: string;
  readonly causationId?: string;
  readonly data: object;
}

export type EventDraft = Omit<KernelEvent, "seq" | "at">;

/** Where a reader of events is: after the event `seq`; `record`: where to read on in the journal, if that is known. */
export interface EventPlace {
  readonly seq: number;
  readonly record?: number;
}

export interface EventLog {
  /** The newest event; without any, the newest record of earlier daemons. */
  head(): Promise<number>;
  /** Resolves with its seq once it is synced. UNAVAILABLE: the disk refuses. */
  publish(draft: EventDraft): Promise<number>;
  /** The next events after a place; empty: there are none yet. Old ones are read from the journal. */
  read(after: EventPlace): Promise<{ readonly events: readonly KernelEvent[]; readonly next: EventPlace }>;
  /** Resolves at the next event. */
  more(): Promise<void>;
}
