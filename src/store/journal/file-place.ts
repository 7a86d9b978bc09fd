/** Whether an open file is still the one its name leads to. */
import { statSync } from "node:fs";
import { JournalFault } from "../fault.ts";

export class FilePlace {
  readonly #path: string;
  readonly #device: number;
  readonly #inode: number;

  /** Remembers the device and inode of the file at `path`. */
  constructor(path: string) {
    const { dev, ino } = statSync(path);
    this.#path = path;
    this.#device = dev;
    this.#inode = ino;
  }

  /** Throws `journal_removed` if the file was deleted, moved or replaced, or cannot be examined. */
  check(): void {
    if (this.#isThere()) return;
    throw new JournalFault("journal_removed", `${this.#path} was removed while it was in use`);
  }

  #isThere(): boolean {
    try {
      const found = statSync(this.#path, { throwIfNoEntry: false });
      return found?.ino === this.#inode && found.dev === this.#device;
    } catch {
      return false;
    }
  }
}
