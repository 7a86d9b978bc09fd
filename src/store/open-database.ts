/** journal.db of a directory, open and configured, and what writes to it. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Clerk } from "./clerk.ts";
import { FilePlace } from "./file-place.ts";
import { HeadFile } from "./head.ts";
import type { OnNotice } from "./notice.ts";
import { type Identity, SqliteWriter } from "./sqlite-writer.ts";

const DATABASE_NAME = "journal.db";
/** Retention, and a person's own sqlite3, hold a lock; a commit waits so long for it. */
const LOCK_WAIT_MS = 10_000;
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
