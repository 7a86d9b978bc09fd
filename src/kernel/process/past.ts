/** What an earlier daemon left of a process, and whether a later daemon can restore it. */
import type { Restored } from "../../abi/program.ts";

export class Past {
  #isRestorable = false;
  #read: (() => Promise<void>) | null = null;
  #restored: Restored | null = null;

  /** The journal holds all that a later daemon needs to restore the process. */
  get isRestorable(): boolean {
    return this.#isRestorable;
  }

  /** The state that its program saved under an earlier daemon; null: a fresh start. */
  get restored(): Restored | null {
    return this.#restored;
  }

  /** The process was restored, but its history is not read yet. */
  get isUnread(): boolean {
    return this.#read !== null;
  }

  /** Called at the spawn. */
  keep(isRestorable: boolean): void {
    this.#isRestorable = isRestorable;
  }

  /** Called when the process is restored: `read` reads its history on first need. */
  back(read: () => Promise<void>): void {
    this.#isRestorable = true;
    this.#read = read;
  }

  /** Reads the history, if not yet done. Concurrent callers wait for the same read. */
  async recall(): Promise<void> {
    await this.#read?.();
  }

  /** Called when the history was read. */
  recalled(restored: Restored | null): void {
    this.#restored = restored;
    this.#read = null;
  }
}
