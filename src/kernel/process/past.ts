/** What an earlier daemon left of a process, and whether a later one can have it. */
import type { Restored } from "../../abi/program.ts";

export class Past {
  #isRestorable = false;
  #read: (() => Promise<void>) | null = null;
  #restored: Restored | null = null;

  /** The journal has all that a later daemon needs to bring it back. */
  get isRestorable(): boolean {
    return this.#isRestorable;
  }

  /** What its program told before its daemon ended; null: a fresh start. */
  get restored(): Restored | null {
    return this.#restored;
  }

  /** Brought back, and its history not read yet. */
  get isUnread(): boolean {
    return this.#read !== null;
  }

  /** At its spawn. */
  keep(isRestorable: boolean): void {
    this.#isRestorable = isRestorable;
  }

  /** It was brought back: `read` reads its history when somebody needs it. */
  back(read: () => Promise<void>): void {
    this.#isRestorable = true;
    this.#read = read;
  }

  /** Reads its history, if that was not done. Who asks meanwhile waits for the same. */
  async recall(): Promise<void> {
    await this.#read?.();
  }

  /** Its history was read. */
  recalled(restored: Restored | null): void {
    this.#restored = restored;
    this.#read = null;
  }
}
