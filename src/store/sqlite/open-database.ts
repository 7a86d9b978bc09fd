/** Opens and configures journal.db of a directory, and the clerk that writes to it. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { DATABASE_NAME } from "../directory.ts";
import { FilePlace } from "../journal/file-place.ts";
import { HeadFile } from "../journal/head.ts";
import type { OnNotice } from "../journal/notice.ts";
import { Clerk } from "./clerk.ts";
import { type Identity, SqliteWriter } from "./writer.ts";

/** How long a commit waits for a lock that retention or the user's own sqlite3 holds. */
const LOCK_WAIT_MS = 10_000;
/** How long a reader beside the daemon waits for a lock. */
const READ_WAIT_MS = 1_000;
/**
 * READONLY, IOERR, FULL, CANTOPEN (sqlite.org/rescode.html): SQLite's codes for a disk on which it cannot make a file.
 */
const UNWRITABLE: ReadonlySet<number> = new Set([8, 10, 13, 14]);
/** The write-ahead log is truncated to this size when it starts again. */
const LOG_BYTES = 64 * 1024 * 1024;

export function databasePath(dir: string): string {
  return join(dir, DATABASE_NAME);
}

export function openDatabase(dir: string): DatabaseSync {
  const db = new DatabaseSync(databasePath(dir), { timeout: LOCK_WAIT_MS });
  try {
    // fullfsync: on macOS a plain fsync leaves the data in the drive's cache; elsewhere it changes nothing
    db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA fullfsync = 1");
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/**
 * Opens the database for reading; makes and changes no file. Without a write-ahead log SQLite wants to make one even
 * for reading; if the disk refuses that, the database is opened as immutable: the file is complete, and no process can
 * change it.
 */
export function openReading(path: string): DatabaseSync {
  try {
    return readable(new DatabaseSync(path, { readOnly: true, timeout: READ_WAIT_MS }));
  } catch (error) {
    if (!(error instanceof Error && "errcode" in error && UNWRITABLE.has(Number(error.errcode) & 0xff)))
      throw error;
    if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) throw error;
    const url = pathToFileURL(path);
    url.searchParams.set("immutable", "1");
    return readable(new DatabaseSync(url, { readOnly: true }));
  }
}

/** Reads a first page, so that a file that is not a database fails here. */
function readable(db: DatabaseSync): DatabaseSync {
  try {
    db.prepare("SELECT count(*) FROM sqlite_schema").get();
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** `mono`: monotonic, ms. */
export function openClerk(
  dir: string,
  identity: Identity,
  options: { maxBytes: number; onNotice: OnNotice; mono: () => number },
): Clerk {
  const db = openDatabase(dir);
  try {
    // the clerk makes the checkpoints
    db.exec(`PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = ${LOG_BYTES}`);
    const head = new HeadFile(dir);
    const writer = new SqliteWriter(db, identity, new FilePlace(databasePath(dir)), head);
    return new Clerk({ dir, db, writer, head, ...options });
  } catch (error) {
    db.close();
    throw error;
  }
}
