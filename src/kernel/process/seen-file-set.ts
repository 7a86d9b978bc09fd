/**
 * What a process has seen of files, so that its tools change none it does not know. Kept by its records: a later daemon and a
 * fork have it too, a child begins with nothing. A record that a crash took costs one view, never a lost change.
 */
import type { SeenFile } from "../../abi/device.ts";
import { RecentMap } from "../../lib/recent-map.ts";
import { LIMITS } from "../limits.ts";

/** The body of `file.seen`, version 1. */
export interface SeenBody extends SeenFile {
  readonly path: string;
}

export class SeenFileSet {
  readonly #files = new RecentMap<string, SeenFile>(LIMITS.seenFiles);
  /** How often a message of the first context was replaced. */
  epoch = 0;

  use(path: string): SeenFile | undefined {
    return this.#files.use(path);
  }

  has(path: string): boolean {
    return this.#files.has(path);
  }

  set(path: string, seen: SeenFile): void {
    this.#files.set(path, seen);
  }
}
