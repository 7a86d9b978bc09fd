/** What a process has seen of each file, so that it changes only files it knows. Hashes, no content. */
import type { SeenFile, SeenFiles } from "../abi/device.ts";
import { RecentMap } from "../lib/maps/recent-map.ts";
import { failure } from "./failure.ts";

export type FileTracker = SeenFiles;

const MAX_PATHS = 1000;

/** For a process that keeps no values: lives as long as its device. */
export class LooseTracker implements FileTracker {
  readonly #seen = new RecentMap<string, SeenFile>(MAX_PATHS);
  readonly epoch = 0;

  get(path: string): SeenFile | undefined {
    return this.#seen.use(path);
  }

  has(path: string): boolean {
    return this.#seen.has(path);
  }

  set(path: string, seen: SeenFile): void {
    this.#seen.set(path, seen);
  }
}

/**
 * The guard, first half: the file was seen, and not only a part that the model did not choose. `shown`: the path as the
 * caller wrote it.
 */
export function requireSeen(tracker: FileTracker, path: string, shown: string): SeenFile {
  const seen = tracker.get(path);
  if (seen === undefined || seen.partial === true)
    throw failure("CONFLICT", `file has not been read: ${shown}. View it first`);
  return seen;
}

/** The guard, second half: the file is as it was seen. The content counts, not the modification time. */
export function requireUnchanged(seen: SeenFile, sha256: string, shown: string): void {
  if (seen.sha256 !== sha256) throw changedError(shown);
}

export function changedError(shown: string, cause?: unknown): Error {
  return failure("CONFLICT", `file has changed since it was read: ${shown}. View it again`, undefined, cause);
}
