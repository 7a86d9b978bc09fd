/** Who writes for a ledger: in the caller's thread (for tests), or in a thread of its own (threaded-scribe.ts). */
import type { Clerk } from "./clerk.ts";
import { type JournalFault, toJournalFault } from "./fault.ts";
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

export class DirectScribe implements Scribe {
  readonly #clerk: Clerk;
  #last: Promise<unknown> = Promise.resolve();
  #lost: JournalFault | undefined;
  #onLost: (fault: JournalFault) => void = () => {};

  constructor(clerk: Clerk) {
    this.#clerk = clerk;
  }

  commit(batches: readonly Batch[], mode: CommitMode): Promise<readonly BatchVerdict[]> {
    const answer = this.#inTurn(() => this.#clerk.commit(batches, mode));
    this.#last = answer.then(() => this.#maintain()).catch(() => {});
    return answer;
  }

  saveSnapshot(proc: string, seq: number, state: string): Promise<void> {
    return this.#inTurn(() => this.#clerk.saveSnapshot(proc, seq, state));
  }

  markDamaged(proc: string, seq: number): Promise<void> {
    return this.#inTurn(() => this.#clerk.markDamaged(proc, seq));
  }

  onLost(listener: (fault: JournalFault) => void): void {
    this.#onLost = listener;
    if (this.#lost !== undefined) listener(this.#lost);
  }

  close(): Promise<void> {
    return this.#inTurn(() => this.#clerk.close());
  }

  #maintain(): void {
    try {
      this.#clerk.maintain();
    } catch (error) {
      this.#lost = toJournalFault(error);
      this.#onLost(this.#lost);
    }
  }

  #inTurn<T>(work: () => T | Promise<T>): Promise<T> {
    const turn = this.#last.then(async () => {
      try {
        return await work();
      } catch (error) {
        throw toJournalFault(error);
      }
    });
    this.#last = turn.catch(() => {});
    return turn;
  }
}
