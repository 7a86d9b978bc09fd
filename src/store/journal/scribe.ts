/** The writing side of a ledger: a thread of its own (threaded-scribe.ts). */
import type { JournalFault } from "../fault.ts";
import type { Batch, BatchVerdict, CommitMode } from "./ledger.ts";

/** Runs its calls one after another, in order. They reject with JournalFault. */
export interface Scribe {
  commit(batches: readonly Batch[], mode: CommitMode): Promise<readonly BatchVerdict[]>;
  saveSnapshot(proc: string, seq: number, state: string): Promise<void>;
  markDamaged(proc: string, seq: number): Promise<void>;
  /** Takes a single listener; calls it at once if the journal is already lost. */
  onLost(listener: (fault: JournalFault) => void): void;
  close(): Promise<void>;
}
