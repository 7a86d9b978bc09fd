/**
 * The ledger on SQLite: WAL, synchronous=FULL, one connection. Derived tables (open_calls, live) change in the
 * transaction of their records, so that recovery costs what is open, not what ever was.
 * A file that was removed takes writes and syncs like any other: a commit counts only if its file still has its name.
 * Fencing: each commit asserts the epoch in its own transaction; a former owner that wakes late writes nothing.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { asCallId, asPid, asProcUuid } from "../abi/ids.ts";
import type { JournalRecord, RecordKind } from "../kernel/ports/journal.ts";
import { decodeBody } from "./body.ts";
import { JournalFault } from "./fault.ts";
import type { FilePlace } from "./file-place.ts";
import type { Entry, Ledger, Place } from "./ledger.ts";
import { endsCall, endsProcess, messageOf } from "./record-kind.ts";

/** Last sequence numbers kept in memory; others are looked up. */
const MAX_HEADS = 4096;

const COLUMNS = "r.lsn, r.proc, r.pid, r.seq, r.epoch, r.kind, r.v, r.call, r.at, r.body";
const SQL = {
  begin: "BEGIN IMMEDIATE",
  commit: "COMMIT",
  epoch: "SELECT value FROM meta WHERE key = 'epoch'",
  insert:
    "INSERT INTO records (lsn, proc, pid, seq, epoch, kind, v, call, at, mono, body) VALUES (?,?,?,?,?,?,?,?,?,?,?)",
  open: "INSERT OR REPLACE INTO open_calls (proc, call, lsn) VALUES (?,?,?)",
  settle: "DELETE FROM open_calls WHERE proc = ? AND call = ?",
  live: "INSERT OR REPLACE INTO live (proc, pid, lsn) VALUES (?,?,?)",
  end: "DELETE FROM live WHERE proc = ?",
  raisePid: "UPDATE meta SET value = ? WHERE key = 'highest_pid'",
  pid: "SELECT value FROM meta WHERE key = 'highest_pid'",
  raiseMessage: "UPDATE meta SET value = ? WHERE key = 'highest_message'",
  message: "SELECT value FROM meta WHERE key = 'highest_message'",
  head: "SELECT max(seq) AS value FROM records WHERE proc = ?",
  lsn: "SELECT coalesce(max(lsn), 0) AS value FROM records",
  read: `SELECT ${COLUMNS} FROM records r WHERE proc = ? AND seq >= ? ORDER BY seq LIMIT ?`,
  processOf: "SELECT proc FROM records WHERE pid = ? AND kind = 'process.spawned' LIMIT 1",
  openCalls: `SELECT ${COLUMNS} FROM open_calls o JOIN records r ON r.lsn = o.lsn ORDER BY o.lsn`,
  unfinished: `SELECT ${COLUMNS} FROM live l JOIN records r ON r.lsn = l.lsn ORDER BY l.pid`,
  // CROSS: from what is live, never through all records
  lastSignals: `SELECT ${COLUMNS} FROM live l CROSS JOIN records r ON r.proc = l.proc AND r.seq =
    (SELECT max(s.seq) FROM records s WHERE s.proc = l.proc AND s.kind = 'signal') ORDER BY l.pid`,
} as const;

export class SqliteLedger implements Ledger {
  readonly epoch: number;
  readonly kernelId: string;
  readonly #db: DatabaseSync;
  readonly #sql: Readonly<Record<keyof typeof SQL, StatementSync>>;
  #nextLsn: number;
  #highestPid: number;
  #highestMessage: number;
  /** Last seq by process; what was used longest ago goes first. */
  readonly #heads = new Map<string, number>();

  readonly #place: FilePlace;

  constructor(db: DatabaseSync, identity: { epoch: number; kernelId: string }, place: FilePlace) {
    this.#db = db;
    this.#place = place;
    this.epoch = identity.epoch;
    this.kernelId = identity.kernelId;
    const prepared = Object.entries(SQL).map(([name, text]) => [name, db.prepare(text)]);
    this.#sql = Object.fromEntries(prepared);
    this.#nextLsn = this.#value("lsn") + 1;
    this.#highestPid = this.#value("pid");
    this.#highestMessage = this.#value("message");
  }

  commit(entries: readonly Entry[]): readonly Place[] {
    const before = { lsn: this.#nextLsn, pid: this.#highestPid, message: this.#highestMessage };
    try {
      this.#sql.begin.run();
      this.#assertEpoch();
      const places = entries.map((entry) => this.#insert(entry));
      if (this.#highestPid > before.pid) this.#sql.raisePid.run(this.#highestPid);
      if (this.#highestMessage > before.message) this.#sql.raiseMessage.run(this.#highestMessage);
      this.#sql.commit.run();
      this.#place.check();
      return places;
    } catch (error) {
      this.#nextLsn = before.lsn;
      this.#highestPid = before.pid;
      this.#highestMessage = before.message;
      this.#heads.clear();
      this.#undo();
      throw error;
    }
  }

  read(proc: string, fromSeq: number, limit: number): readonly JournalRecord[] {
    return this.#sql.read.all(proc, fromSeq, limit).map(toRecord);
  }

  openCalls(): readonly JournalRecord[] {
    return this.#sql.openCalls.all().map(toRecord);
  }

  unfinished(): readonly JournalRecord[] {
    return this.#sql.unfinished.all().map(toRecord);
  }

  lastSignals(): readonly JournalRecord[] {
    return this.#sql.lastSignals.all().map(toRecord);
  }

  processOf(pid: number): string | undefined {
    const row = this.#sql.processOf.get(pid);
    return row === undefined ? undefined : String(row.proc);
  }

  highestPid(): number {
    return this.#highestPid;
  }

  highestMessage(): number {
    return this.#highestMessage;
  }

  close(): void {
    this.#db.close();
  }

  /** After some errors (full, I/O) SQLite has rolled back by itself. The error that led here is the one that counts. */
  #undo(): void {
    try {
      if (this.#db.isTransaction) this.#db.exec("ROLLBACK");
    } catch {
      // the next BEGIN fails and says why
    }
  }

  #assertEpoch(): void {
    const now = this.#value("epoch");
    if (now === this.epoch) return;
    throw new JournalFault("journal_fenced", `a later daemon (epoch ${now}) owns this journal`);
  }

  #insert({ draft, body, at, mono }: Entry): Place {
    const { proc, pid, kind, v, call } = draft;
    const place = { lsn: this.#nextLsn++, seq: this.#head(proc) + 1 };
    this.#sql.insert.run(place.lsn, proc, pid, place.seq, this.epoch, kind, v, call ?? null, at, mono, body);
    this.#heads.set(proc, place.seq);
    if (pid > this.#highestPid) this.#highestPid = pid;
    this.#highestMessage = Math.max(this.#highestMessage, messageOf(kind, body));
    if (call !== undefined && kind === "call.intent") this.#sql.open.run(proc, call, place.lsn);
    if (call !== undefined && endsCall(kind)) this.#sql.settle.run(proc, call);
    if (kind === "process.spawned") this.#sql.live.run(proc, pid, place.lsn);
    if (endsProcess(kind)) this.#sql.end.run(proc);
    return place;
  }

  #head(proc: string): number {
    const known = this.#heads.get(proc);
    this.#heads.delete(proc);
    for (const oldest of this.#heads.keys()) {
      if (this.#heads.size < MAX_HEADS) break;
      this.#heads.delete(oldest);
    }
    return known ?? this.#value("head", proc);
  }

  #value(name: "epoch" | "pid" | "message" | "head" | "lsn", ...args: string[]): number {
    return Number(this.#sql[name].get(...args)?.value ?? 0);
  }
}

function toRecord(row: Record<string, unknown>): JournalRecord {
  const record = {
    lsn: Number(row.lsn),
    seq: Number(row.seq),
    epoch: Number(row.epoch),
    at: Number(row.at),
    proc: asProcUuid(String(row.proc)),
    pid: asPid(Number(row.pid)),
    kind: row.kind as RecordKind,
    v: Number(row.v),
    body: decodeBody(String(row.body)),
  };
  return row.call === null ? record : { ...record, call: asCallId(String(row.call)) };
}
