/**
 * Writes groups to journal.db: one connection, WAL, synchronous=FULL, one transaction and one sync per group.
 * Synchronous: it belongs in a thread of its own (writer-thread.ts), or in a test.
 * Fencing: each commit checks the epoch in its own transaction, so that a former owner that wakes late writes nothing.
 * A removed file accepts writes and syncs like any other, so a commit counts only if the file still has its name.
 */
import { hash } from "node:crypto";
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { JournalFault } from "../fault.ts";
import { chainHash, type StoredRecord } from "../journal/chain.ts";
import type { FilePlace } from "../journal/file-place.ts";
import type { HeadFile } from "../journal/head.ts";
import {
  type Batch,
  type BatchVerdict,
  type ChainedRecord,
  type Entry,
  type RecordPosition,
  type Refusal,
  SNAPSHOTS_KEPT,
} from "../journal/ledger.ts";
import { messageOf } from "../journal/record-kind.ts";
import { Derived } from "./derived.ts";

const SQL = {
  begin: "BEGIN IMMEDIATE",
  commit: "COMMIT",
  foreign: "PRAGMA data_version",
  meta: "SELECT value FROM meta WHERE key = ?",
  setMeta: "INSERT OR REPLACE INTO meta (key, value) VALUES (?,?)",
  lsn: "SELECT coalesce(max(lsn), 0) AS value FROM records",
  saveSnapshot: "INSERT OR REPLACE INTO snapshots (proc, seq, state, digest) VALUES (?,?,?,?)",
  dropSnapshots: `DELETE FROM snapshots WHERE proc = ? AND seq NOT IN
    (SELECT seq FROM snapshots WHERE proc = ? ORDER BY seq DESC LIMIT ${SNAPSHOTS_KEPT})`,
  damaged: "UPDATE processes SET damaged_at = ? WHERE proc = ? AND (damaged_at IS NULL OR damaged_at > ?)",
} as const;

export interface Identity {
  readonly epoch: number;
  readonly kernelId: string;
}

export class SqliteWriter {
  readonly #db: DatabaseSync;
  readonly #epoch: number;
  readonly #sql: Readonly<Record<keyof typeof SQL, StatementSync>>;
  readonly #rows: RecordRows;
  readonly #derived: Derived;
  readonly #place: FilePlace;
  readonly #head: HeadFile;
  #lastLsn: number;
  #highestPid: number;
  #highestMessage: number;
  #foreign: number;

  constructor(db: DatabaseSync, identity: Identity, place: FilePlace, head: HeadFile) {
    this.#db = db;
    this.#place = place;
    this.#head = head;
    this.#epoch = identity.epoch;
    const prepared = Object.entries(SQL).map(([name, text]) => [name, db.prepare(text)]);
    this.#sql = Object.fromEntries(prepared);
    this.#rows = new RecordRows(db);
    this.#derived = new Derived(db, identity.kernelId);
    this.#lastLsn = this.#findLastLsn();
    this.#highestPid = this.#meta("highest_pid");
    this.#highestMessage = this.#meta("highest_message");
    this.#foreign = this.#dataVersion();
  }

  /** Throws JournalFault or a database error; then nothing was committed, or the fault is `isLost`. */
  commit(batches: readonly Batch[]): readonly BatchVerdict[] {
    return this.#transaction(() => {
      const before = { pid: this.#highestPid, message: this.#highestMessage };
      let last: Uint8Array | undefined;
      const verdicts = batches.map((batch) => {
        const refusal = this.#refusalOf(batch);
        if (refusal !== undefined) return refusal;
        return batch.entries.map((entry) => {
          const [place, digest] = this.#insert(entry);
          last = digest;
          return place;
        });
      });
      this.#rows.flush();
      this.#derived.flush();
      this.#raise("highest_pid", before.pid, this.#highestPid);
      this.#raise("highest_message", before.message, this.#highestMessage);
      return { result: verdicts, last };
    });
  }

  /** Tests the disk with a real write and sync that stores no record. */
  probe(): void {
    this.#transaction(() => {
      this.#sql.setMeta.run("probed", this.#lastLsn);
      return { result: undefined, last: undefined };
    });
  }

  saveSnapshot(proc: string, seq: number, state: string): void {
    this.#transaction(() => {
      this.#sql.saveSnapshot.run(proc, seq, state, hash("sha256", state, "hex"));
      this.#sql.dropSnapshots.run(proc, proc);
      return { result: undefined, last: undefined };
    });
  }

  markDamaged(proc: string, seq: number): void {
    this.#transaction(() => {
      this.#sql.damaged.run(seq, proc, seq);
      this.#derived.forget();
      return { result: undefined, last: undefined };
    });
  }

  close(): void {
    this.#head.close();
    this.#db.close();
  }

  /**
   * Runs `work` in a transaction. `last`: the hash of the last inserted record; it is written to the head before the
   * caller gets the result.
   */
  #transaction<T>(work: () => { result: T; last: Uint8Array | undefined }): T {
    const before = { lsn: this.#lastLsn, pid: this.#highestPid, message: this.#highestMessage };
    try {
      this.#sql.begin.run();
      this.#assertEpoch();
      this.#assertAlone();
      before.lsn = this.#lastLsn;
      const { result, last } = work();
      this.#sql.commit.run();
      this.#place.check();
      if (last !== undefined) this.#head.write(this.#lastLsn, last);
      return result;
    } catch (error) {
      this.#lastLsn = before.lsn;
      this.#highestPid = before.pid;
      this.#highestMessage = before.message;
      this.#rows.forget();
      this.#derived.forget();
      this.#undo();
      throw error;
    }
  }

  #refusalOf({ entries, expect }: Batch): Refusal | undefined {
    const [first] = entries;
    if (first === undefined) return undefined;
    const { lastSeq } = this.#derived.row(first.proc);
    if (expect !== undefined && lastSeq !== expect) {
      const message = `the history of pid ${first.pid} ends with record ${lastSeq}, not with ${expect}`;
      return { code: "CONFLICT", message };
    }
    const orphan = entries.find(({ fact }) => fact?.is === "forked" && !this.#isThere(fact.from, fact.at));
    if (orphan === undefined) return undefined;
    return { code: "NOT_FOUND", message: `pid ${orphan.pid} cannot be a fork of a record that is not there` };
  }

  #isThere(proc: string, seq: number): boolean {
    this.#rows.flush();
    return this.#derived.hashAt(proc, seq) !== undefined;
  }

  #insert(entry: Entry): [RecordPosition, Uint8Array] {
    const { proc, pid, kind, v, call, at, mono, body, fact, names } = entry;
    this.#lastLsn += 1;
    const lsn = this.#lastLsn;
    if (fact?.is === "forked") this.#rows.flush();
    const previous = this.#derived.hashBefore(proc, fact);
    const seq = this.#derived.row(proc).lastSeq + 1;
    const stored: StoredRecord = { lsn, proc, pid, seq, epoch: this.#epoch, kind, v, call, at, mono, body };
    const digest = chainHash(previous, stored);
    const record = { ...stored, hash: digest };
    this.#rows.add(record);
    this.#derived.take(record, fact, names);
    if (pid > this.#highestPid) this.#highestPid = pid;
    this.#highestMessage = Math.max(this.#highestMessage, messageOf(fact));
    return [{ lsn, seq }, digest];
  }

  #raise(key: string, before: number, now: number): void {
    if (now > before) this.#sql.setMeta.run(key, now);
  }

  /**
   * After some errors (full, I/O) SQLite has already rolled back. The original error counts, so one here is ignored.
   */
  #undo(): void {
    try {
      if (this.#db.isTransaction) this.#db.exec("ROLLBACK");
    } catch {
      // the next BEGIN fails and reports why
    }
  }

  #assertEpoch(): void {
    const now = this.#meta("epoch");
    if (now === this.#epoch) return;
    throw new JournalFault("journal_fenced", `a later daemon (epoch ${now}) owns this journal`);
  }

  /** Drops cached rows and counters if another connection (retention, repair) wrote meanwhile. */
  #assertAlone(): void {
    const version = this.#dataVersion();
    if (version === this.#foreign) return;
    this.#foreign = version;
    this.#derived.forget();
    this.#lastLsn = Math.max(this.#lastLsn, this.#findLastLsn());
  }

  /**
   * The highest lsn of the records and the head: an acknowledged lsn is not given twice, even if its record is missing.
   */
  #findLastLsn(): number {
    return Math.max(Number(this.#sql.lsn.get()?.value ?? 0), this.#head.lsn);
  }

  #dataVersion(): number {
    return Number(this.#sql.foreign.get()?.data_version);
  }

  #meta(key: string): number {
    return Number(this.#sql.meta.get(key)?.value ?? 0);
  }
}

const COLUMNS = "lsn, proc, pid, seq, epoch, kind, v, call, at, mono, body, hash";
const WIDTH = COLUMNS.split(", ").length;
/** Rows of one statement, the most first. */
const SIZES = [32, 8, 1] as const;

/**
 * The rows of a group on their way into `records`: many by one statement, which costs half of one statement for each.
 * Rows that were added are in the table after `flush`, which comes before every look at the table and before the commit.
 */
class RecordRows {
  readonly #inserts: readonly { readonly rows: number; readonly sql: StatementSync }[];
  #values: SQLInputValue[] = [];

  constructor(db: DatabaseSync) {
    const row = `(${Array(WIDTH).fill("?").join(",")})`;
    this.#inserts = SIZES.map((rows) => {
      const sql = db.prepare(`INSERT INTO records (${COLUMNS}) VALUES ${Array(rows).fill(row).join(",")}`);
      return { rows, sql };
    });
  }

  add({ lsn, proc, pid, seq, epoch, kind, v, call, at, mono, body, hash }: ChainedRecord): void {
    this.#values.push(lsn, proc, pid, seq, epoch, kind, v, call, at, mono, body, hash);
    if (this.#values.length === SIZES[0] * WIDTH) this.flush();
  }

  flush(): void {
    const values = this.#values;
    this.#values = [];
    let from = 0;
    for (const { rows, sql } of this.#inserts)
      for (; values.length - from >= rows * WIDTH; from += rows * WIDTH)
        sql.run(...values.slice(from, from + rows * WIDTH));
  }

  /** Drops the rows that a transaction did not come to write. */
  forget(): void {
    this.#values = [];
  }
}
