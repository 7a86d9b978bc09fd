/** What a process has seen of each file, so that it changes none it does not know. Hashes, no content. */
import { failure } from "./failure.ts";

export interface Seen {
  /** Of the whole file, hex. */
  readonly sha256: string;
  readonly source: "view" | "edit" | "write";
  /** The page that the model was shown and the file's stat just before it was read. Only from view. */
  readonly page?: Page;
}

export interface Page {
  readonly offset: number;
  readonly limit: number;
  readonly mtimeNs: string;
  readonly size: number;
  readonly inode: string;
}

const MAX_PATHS = 1000;

/** One per process. Beyond 1,000 paths the least recently used is forgotten and has to be viewed again. */
export class FileTracker {
  readonly #seen = new Map<string, Seen>();

  get(path: string): Seen | undefined {
    const seen = this.#seen.get(path);
    if (seen !== undefined) this.set(path, seen);
    return seen;
  }

  /** Looks without counting as a use: for what must change nothing. */
  has(path: string): boolean {
    return this.#seen.has(path);
  }

  set(path: string, seen: Seen): void {
    this.#seen.delete(path);
    this.#seen.set(path, seen);
    if (this.#seen.size <= MAX_PATHS) return;
    const [oldest] = this.#seen.keys();
    if (oldest !== undefined) this.#seen.delete(oldest);
  }

  delete(path: string): void {
    this.#seen.delete(path);
  }
}

/** The guard, first half: the file was seen. `shown` is the path as the caller wrote it. */
export function requireSeen(tracker: FileTracker, path: string, shown: string): Seen {
  const seen = tracker.get(path);
  if (seen === undefined) throw failure("CONFLICT", `file has not been read: ${shown}. View it first`);
  return seen;
}

/** The guard, second half: it is what was seen. Content counts, not the modification time. */
export function requireUnchanged(seen: Seen, sha256: string, shown: string): void {
  if (seen.sha256 !== sha256) throw changedError(shown);
}

export function changedError(shown: string, cause?: unknown): Error {
  return failure("CONFLICT", `file has changed since it was read: ${shown}. View it again`, undefined, cause);
}
