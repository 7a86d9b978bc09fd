/** A scribe that writes in its caller's thread. */

import { type JournalFault, toJournalFault } from "../../fault.ts";
import type { Clerk } from "../../sqlite/clerk.ts";
import type { Batch, BatchVerdict, CommitMode } from "../ledger.ts";
import type { Scribe } from "../scribe.ts";

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
