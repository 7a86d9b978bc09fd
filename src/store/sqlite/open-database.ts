/** journal.db of a directory, open and configured, and what writes to it. */
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

/** Retention, and a person's own sqlite3, hold a lock; a commit waits so long for it. */
const LOCK_WAIT_MS = 10_000;
/** Beside the daemon, of a reader. */
const READ_WAIT_MS = 1_000;
/** READONLY, IOERR, FULL, CANTOPEN (sqlite.org/rescode.html): what SQLite says of a disk on which it can make no file. */
const UNWRITABLE: ReadonlySet<number> = new Set([8, 10, 13, 14]);
/** The log is cut to it when it begins anew. */
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
 * To read only, nothing made and nothing changed. Without a log SQLite wants to make one even to read: where the disk takes none,
 * the file is the whole database, and nobody else can change it.
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

/** The first read of a page: a file that is no database is told here. */
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
    // checkpoints are the clerk's
    db.exec(`PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = ${LOG_BYTES}`);
    const head = new HeadFile(dir);
    const writer = new SqliteWriter(db, identity, new FilePlace(databasePath(dir)), head);
    return new Clerk({ dir, db, writer, head, ...options });
  } catch (error) {
    db.close();
    throw error;
  }
}
