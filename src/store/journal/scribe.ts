/** Who writes for a ledger: a thread of its own (threaded-scribe.ts). */
import type { JournalFault } from "../fault.ts";
import type { Batch, BatchVerdict, CommitMode } from "./ledger.ts";

/** Writes, one after another, in the order of the calls. Rejects with JournalFault. */
export interface Scribe {
  commit(batches: readonly Batch[], mode: CommitMode): Promise<readonly BatchVerdict[]>;
  saveSnapshot(proc: string, seq: number, state: string): Promise<void>;
  markDamaged(proc: string, seq: number): Promise<void>;
  /** One listener. Told at once if it has happened. */
  onLost(listener: (fault: JournalFault) => void): void;
  close(): Promise<void>;
}
