/** Opens the journal of a state directory. One daemon at a time: the caller holds the lease (lease.ts). */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Fault } from "../abi/errors.ts";
import type { Journal } from "../kernel/ports/journal.ts";
import { systemClock } from "../lib/system-clock.ts";
import { createPrivateFile, prepareDirectory } from "./directory.ts";
import { toJournalFault } from "./fault.ts";
import { FilePlace } from "./file-place.ts";
import { GroupJournal, type JournalClock } from "./group.ts";
import { claimSchema } from "./schema.ts";
import { SqliteLedger } from "./sqlite-ledger.ts";

const DEFAULT_MAX_BYTES = 20 * 1024 ** 3;
/** Only a person's own sqlite3 can hold a lock; a commit waits so long for it. */
const LOCK_WAIT_MS = 1000;

export interface JournalOptions {
  /** The directory of the journal's files; made with mode 0700 if missing. */
  readonly dir: string;
  readonly clock?: JournalClock;
  /** Size of the database from which on it is full; default 20 GiB. */
  readonly maxBytes?: number;
}

/** Errors: UNAVAILABLE with the reason: unwritable, damaged, newer schema, network file system. */
export async function openJournal(options: JournalOptions): Promise<Journal> {
  const { dir, clock = systemClock, maxBytes = DEFAULT_MAX_BYTES } = options;
  const path = join(dir, "journal.db");
  let db: DatabaseSync | undefined;
  try {
    prepareDirectory(dir);
    createPrivateFile(dir, path);
    db = new DatabaseSync(path, { timeout: LOCK_WAIT_MS });
    configure(db, maxBytes);
    return new GroupJournal(new SqliteLedger(db, claimSchema(db), new FilePlace(path)), clock);
  } catch (error) {
    db?.close();
    throw error instanceof Fault ? error : toJournalFault(error, path);
  }
}

function configure(db: DatabaseSync, maxBytes: number): void {
  // fullfsync: on macOS a plain fsync leaves the data in the drive's cache; elsewhere it changes nothing
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA fullfsync = 1");
  const pageSize = Number(db.prepare("PRAGMA page_size").get()?.page_size);
  db.exec(`PRAGMA max_page_count = ${Math.max(1, Math.floor(maxBytes / pageSize))}`);
}
