/** Opens the journal of a state directory. One daemon at a time: the caller holds the lease (lease.ts). */
import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { Fault } from "../../abi/errors.ts";
import type { Journal } from "../../kernel/ports/journal.ts";
import { counted } from "../../lib/text/counted.ts";
import { systemClock } from "../../lib/time/system-clock.ts";
import { createPrivateFile, prepareDirectory } from "../directory.ts";
import { JournalFault, toJournalFault } from "../fault.ts";
import { GroupJournal } from "../journal/group.ts";
import { headOf } from "../journal/head.ts";
import type { JournalClock } from "../journal/journal-clock.ts";
import type { OnNotice } from "../journal/notice.ts";
import type { Scribe } from "../journal/scribe.ts";
import { SqliteLedger } from "./ledger.ts";
import { databasePath, openDatabase } from "./open-database.ts";
import { SqliteReader } from "./reader.ts";
import { claimSchema } from "./schema.ts";
import { startWriter, ThreadedScribe } from "./threaded-scribe.ts";
import type { WriterSeed } from "./writer-message.ts";

const DEFAULT_MAX_BYTES = 20 * 1024 ** 3;

export interface JournalOptions {
  /** The directory of the journal's files; made with mode 0700 if it is missing. */
  readonly dir: string;
  readonly clock?: JournalClock;
  /** Largest size of the database; default 20 GiB. */
  readonly maxBytes?: number;
  /** Receives notices for the log: slow commits, low space, missing records. */
  readonly onNotice?: OnNotice;
}

/** Makes the scribe: normally a thread of its own; tests may use another. */
export type MakeScribe = (seed: WriterSeed, onNotice: OnNotice) => Scribe;
const inThread: MakeScribe = (seed, onNotice) => new ThreadedScribe(startWriter(seed), onNotice);

/**
 * The writer thread starts in the background; the first append waits for it. Errors: UNAVAILABLE with the reason:
 * unwritable, damaged, newer schema, network file system.
 */
export async function openJournal(options: JournalOptions, makeScribe = inThread): Promise<Journal> {
  const { dir, clock = systemClock, maxBytes = DEFAULT_MAX_BYTES, onNotice = () => {} } = options;
  const path = databasePath(dir);
  let db: DatabaseSync | undefined;
  try {
    prepareDirectory(dir);
    checkNotEmptied(dir, path);
    createPrivateFile(dir, path);
    db = openDatabase(dir);
    const { epoch, kernelId } = claimSchema(db, path);
    tellMissing(db, dir, onNotice);
    // read before the writer changes it
    const acknowledgedLsn = headOf(dir)?.lsn ?? Number.POSITIVE_INFINITY;
    const identity = { epoch, kernelId, highest: highestOf(db), acknowledgedLsn };
    // from here on this connection only reads
    db.exec("PRAGMA query_only = 1");
    const reader = new SqliteReader(db, kernelId);
    const scribe = makeScribe({ dir, identity: { epoch, kernelId }, maxBytes }, onNotice);
    const ledger = new SqliteLedger(dir, identity, { reader, scribe });
    return new GroupJournal(ledger, clock, onNotice);
  } catch (error) {
    db?.close();
    throw error instanceof Fault ? error : toJournalFault(error, path);
  }
}

/** A journal that has had records is never begun anew: they would be lost, and their pids given again, without a word. */
function checkNotEmptied(dir: string, path: string): void {
  const head = headOf(dir);
  const sizeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  // the first pages may be in the write-ahead log alone
  if (head === null || sizeOf(path) > 0 || sizeOf(`${path}-wal`) > 0) return;
  const what = `${path} is gone or empty, but ${counted(head.lsn, "record")} had been acknowledged`;
  throw new JournalFault("journal_damaged", `${what}: restore it, or move ${dir} away to begin without them`);
}

export function highestOf(db: DatabaseSync): { pid: number; message: number } {
  const get = db.prepare("SELECT value FROM meta WHERE key = ?");
  const of = (key: string): number => Number(get.get(key)?.value ?? 0);
  return { pid: of("highest_pid"), message: of("highest_message") };
}

/** Reports acknowledged records that are missing from the database, which SQLite itself calls intact. */
export function tellMissing(db: DatabaseSync, dir: string, onNotice: OnNotice): void {
  const head = headOf(dir);
  if (head === null) return;
  const last = Number(db.prepare("SELECT coalesce(max(lsn), 0) AS lsn FROM records").get()?.lsn);
  if (head.lsn <= last) return;
  const message = `records ${last + 1} to ${head.lsn} were acknowledged and are missing in ${databasePath(dir)}`;
  onNotice({ event: "journal.missing_acknowledged", message });
}
