/**
 * Signals and exits while the disk is full: they still act, and are stored where there is room for them
 * (ports/ends.ts), so that the next daemon does not restore a process that was ended.
 */

import type { Ends, KeptEnd } from "./ports/ends.ts";
import type { JournalState } from "./ports/journal.ts";

/** Signals that a client may still wait for; older ones are in the journal, or were stored. */
const MAX_FRESH = 256;

interface Around {
  readonly journal: { readonly state: JournalState };
  /** Absent: there is no such storage. */
  readonly ends?: Ends;
}

export class KeptEnds {
  readonly #around: Around;
  /** Signals that were noted and are not known to be synced. */
  #fresh: KeptEnd[] = [];

  constructor(around: Around) {
    this.#around = around;
  }

  signal(draft: KeptEnd): void {
    this.#fresh.push(draft);
    if (this.#fresh.length > MAX_FRESH) this.#fresh.shift();
  }

  /** The journal has synced all of them. */
  synced(): void {
    this.#fresh = [];
  }

  /** The journal refused them: returns true if all could be stored in `ends` instead. */
  keepSignals(): boolean {
    const left = this.#fresh;
    this.#fresh = [];
    return left.length > 0 && left.every((draft) => this.keep(draft));
  }

  keep(draft: KeptEnd): boolean {
    const { state } = this.#around.journal;
    return (
      state.state === "degraded" && state.reason === "journal_full" && this.#around.ends?.keep(draft) === true
    );
  }
}
