/**
 * A file that one process holds, for life: an exclusive transaction on it, as with the lease. The operating system frees it at death,
 * however the holder dies. The file goes with its holder; who got hold of one that was just removed takes the next.
 */
import { closeSync, constants, fstatSync, openSync, rmSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { toJournalFault } from "./fault.ts";

export interface FileLock {
  /** Removes the file and frees it. Idempotent. */
  release(): void;
}

const { O_CREAT, O_NOFOLLOW, O_RDWR } = constants;

/** null: another process holds it. Errors: UNAVAILABLE, the file cannot be made or locked. */
export function lockFile(path: string): FileLock | null {
  for (;;) {
    const held = tryLock(path);
    if (held !== "removed") return held;
  }
}

function tryLock(path: string): FileLock | null | "removed" {
  let file: number | undefined;
  let db: DatabaseSync | undefined;
  const drop = (): void => {
    db?.close();
    if (file !== undefined) closeSync(file);
    file = undefined;
  };
  try {
    // open as long as the lock is held: its inode is given to no other file meanwhile, and closing it would drop the lock
    file = openSync(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0o600);
    const { ino } = fstatSync(file);
    const isThere = (): boolean => statSync(path, { throwIfNoEntry: false })?.ino === ino;
    db = new DatabaseSync(path);
    // nothing is ever written: no second file
    db.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
    if (!isThere()) {
      drop();
      return "removed";
    }
    const release = (): void => {
      if (file === undefined) return;
      // before the lock goes: afterwards it may be the next one's
      if (isThere()) rmSync(path, { force: true });
      drop();
    };
    return { release };
  } catch (error) {
    drop();
    const fault = toJournalFault(error, path);
    if (fault.reason === "journal_locked") return null;
    throw fault;
  }
}
