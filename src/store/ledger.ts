/** What lies under a journal: it keeps groups whole and answers from what it keeps. The group above decides when. */
import type { JournalDraft, JournalRecord } from "../kernel/ports/journal.ts";

/** A draft on its way to the disk: its body is encoded, its time is that of the call. */
export interface Entry {
  readonly draft: Omit<JournalDraft, "body">;
  readonly body: string;
  /** Wall clock, ms. */
  readonly at: number;
  /** Monotonic clock, ms. */
  readonly mono: number;
}

export interface Place {
  readonly lsn: number;
  readonly seq: number;
}

/** Synchronous: when a call returns, it has happened. */
export interface Ledger {
  readonly epoch: number;
  readonly kernelId: string;
  /** All entries in order, as one unit, synced. Throws JournalFault; then nothing was taken, or it is `isLost`. */
  commit(entries: readonly Entry[]): readonly Place[];
  read(proc: string, fromSeq: number, limit: number): readonly JournalRecord[];
  openCalls(): readonly JournalRecord[];
  unfinished(): readonly JournalRecord[];
  lastSignals(): readonly JournalRecord[];
  processOf(pid: number): string | undefined;
  highestPid(): number;
  highestMessage(): number;
  close(): void;
}
