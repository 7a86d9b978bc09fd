/**
 * A lock file that one process holds until its end, by an exclusive transaction as with the lease. The operating system
 * frees it when the holder ends, however it ends. The holder removes the file on release; a process that locked a file
 * just removed tries again with the new one.
 */
import { closeSync, constants, fstatSync, openSync, rmSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { toJournalFault } from "./fault.ts";

export interface FileLock {
  /** Removes the file and frees the lock. Idempotent. */
  release(): void;
}

const { O_CREAT, O_NOFOLLOW, O_RDWR } = constants;

/** null: another process holds the lock. Errors: UNAVAILABLE if the file cannot be made or locked. */
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
    // open as long as the lock is held: so no other file gets its inode; closing it earlier would drop the lock
    file = openSync(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0o600);
    const { ino } = fstatSync(file);
    const isThere = (): boolean => statSync(path, { throwIfNoEntry: false })?.ino === ino;
    db = new DatabaseSync(path);
    // nothing is ever written, so no journal file appears
    db.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
    if (!isThere()) {
      drop();
      return "removed";
    }
    const release = (): void => {
      if (file === undefined) return;
      // before the lock is freed: afterwards the file may belong to the next holder
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
