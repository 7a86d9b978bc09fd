/**
 * Checks whether a journal is complete: head, records, rows, open calls, and with `full` every hash, body, snapshot and
 * blob. It changes nothing. Beside a daemon that writes, it skips what keeps changing: the write-ahead log, SQLite's
 * own check, the derived tables and open calls.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../../abi/errors.ts";
import type { CheckReport } from "../../kernel/ports/journal-tools.ts";
import { headOf } from "../journal/head.ts";
import { SCHEMA_VERSION } from "../sqlite/schema.ts";
import { checkBlobs } from "./check-blobs.ts";
import { DerivedAgain, factOfRecord } from "./check-derived.ts";
import { Findings } from "./check-findings.ts";
import {
  type BrokenHistory,
  checkAllRecords,
  checkTails,
  type HistoryCheck,
  LOSS_REPAIR,
  type Loss,
} from "./check-histories.ts";
import { readWal } from "./check-wal.ts";
import { underRemoval } from "./collect-removal.ts";
import { PAGE_ROWS, sameBytes, ToolsDatabase } from "./database.ts";
import type { Pace } from "./pace.ts";
import { MissingRecords } from "./verify-missing.ts";
import { readRemoved } from "./verify-removed.ts";
import { missingText, rowsAgainstTails } from "./verify-rows.ts";

export interface CheckOptions {
  readonly full: boolean;
  /** No other process has the journal open: the caller holds the lease. */
  readonly isAlone: boolean;
  readonly only: readonly string[];
  readonly pace: Pace;
  readonly progress: (records: number) => void;
}

export interface CheckResult extends Omit<CheckReport, "elapsedMs"> {
  /** Histories that can be cut. */
  readonly broken: readonly BrokenHistory[];
  /** Missing records that no removal explains. */
  readonly losses: readonly Loss[];
}

/** As a machine that fails during the first start leaves it. */
const NOT_BEGUN = {
  code: "schema",
  detail: "the journal is empty: the next start of the daemon makes it",
} as const;

/** Up to this size SQLite's own check runs without `full`: it reads the whole file at once. */
const QUICK_PAGES = 64 * 1024;

export async function checkJournal(dir: string, options: CheckOptions): Promise<CheckResult> {
  const found = new Findings();
  const none = { processes: 0, records: 0, blobs: 0, broken: [], losses: [] };
  const path = join(dir, "journal.db");
  if (!existsSync(path)) {
    if (headOf(dir) !== null) found.damage({ code: "database", detail: `${path} is gone` });
    return { ...none, findings: found.all() };
  }
  // before the database is opened: opening may remove the log
  if (options.isAlone) checkWal(`${path}-wal`, found);
  const isBegun = headOf(dir) !== null;
  let db: ToolsDatabase | undefined;
  try {
    db = new ToolsDatabase(path);
    if (!checkSchema(db, found, isBegun)) return { ...none, findings: found.all() };
    return { ...none, ...(await new Check(db, found, options).run()), findings: found.all() };
  } catch (error) {
    options.pace.throwIfAborted();
    // SQLite's journal of before the write-ahead log: only the very first write of a database has one
    if (!isBegun && existsSync(`${path}-journal`)) found.notice(NOT_BEGUN);
    else found.damage({ code: "database", detail: `${path}: ${messageOf(error)}` });
    return { ...none, findings: found.all() };
  } finally {
    db?.close();
  }
}

function checkWal(path: string, found: Findings): void {
  const torn = readWal(path)?.tornBytes ?? 0;
  if (torn > 0)
    found.notice({
      code: "torn_tail",
      detail: `${path}: ${torn} bytes behind the last whole commit; what they held was never whole`,
    });
}

/** False: the rest of the journal cannot be checked. `isBegun`: the head names a record. */
function checkSchema(db: ToolsDatabase, found: Findings, isBegun: boolean): boolean {
  const version = db.hasTable("meta") ? Number(db.meta("schema")) : 0;
  if (version === SCHEMA_VERSION) return true;
  const code = "schema";
  if (version === 0 && !isBegun && db.isEmpty) found.notice(NOT_BEGUN);
  else if (version === 0) found.damage({ code, detail: "the database has no journal in it" });
  else if (version < SCHEMA_VERSION) {
    const next = `the next start of the daemon brings it to ${SCHEMA_VERSION}`;
    found.notice({ code, detail: `the journal has schema ${version}: ${next}` });
  } else {
    const detail = `the journal was written by a newer crux (schema ${version}): use that version`;
    found.damage({ code, detail });
  }
  return false;
}

class Check {
  readonly #db: ToolsDatabase;
  readonly #found: Findings;
  readonly #options: CheckOptions;
  readonly #only: ReadonlySet<string>;
  /** The process whose removal the next daemon completes; until then its rows are incomplete. */
  readonly #removed: string | undefined;

  constructor(db: ToolsDatabase, found: Findings, options: CheckOptions) {
    this.#db = db;
    this.#found = found;
    this.#options = options;
    this.#only = new Set(options.only);
    this.#removed = underRemoval(db)?.proc;
  }

  async run(): Promise<Pick<CheckResult, "processes" | "records" | "blobs" | "broken" | "losses">> {
    const { full, isAlone, pace } = this.#options;
    if (isAlone) this.#checkFile();
    const atEnd = this.#checkHead();
    const { records, processes, broken, losses } = full
      ? await this.#all()
      : await checkTails(this.#histories());
    await this.#checkRows(broken);
    await this.#checkOpenCalls();
    if (full) await this.#checkSnapshots(broken);
    const blobs = full ? await checkBlobs(this.#db, this.#found, pace) : 0;
    return { records, processes, blobs, losses: [...losses, ...atEnd], broken: [...broken.values()] };
  }

  #histories(): HistoryCheck {
    const { pace, progress } = this.#options;
    return {
      db: this.#db,
      found: this.#found,
      pace,
      progress,
      isLeftOut: ({ proc, pid }) => this.#isLeftOut(proc, pid),
    };
  }

  #isLeftOut(proc: string, pid: number): boolean {
    if (proc === this.#removed) return true;
    return this.#only.size > 0 && !this.#only.has(proc) && !this.#only.has(String(pid));
  }

  async #all() {
    const { isAlone, pace } = this.#options;
    const missing = new MissingRecords(await readRemoved(this.#db, pace));
    // beside a writer the tables change while the records are read
    const again = isAlone ? new DerivedAgain(this.#db) : undefined;
    try {
      const result = await checkAllRecords(this.#histories(), missing, (record) => {
        return again && factOfRecord(this.#db, record).then((fact) => again.take(record, fact));
      });
      const isBroken = (proc: string) => result.broken.has(proc) || this.#isLeftOut(proc, -1);
      await again?.compare(this.#found, isBroken, pace);
      return result;
    } finally {
      again?.close();
    }
  }

  #checkFile(): void {
    const pages = Number(this.#db.sql("PRAGMA page_count").get()?.page_count);
    if (!this.#options.full && pages > QUICK_PAGES) return;
    const pragma = this.#options.full ? "integrity_check" : "quick_check";
    for (const row of this.#db.db.prepare(`PRAGMA ${pragma}(100)`).all()) {
      const [line = ""] = String(Object.values(row)[0]).split("\n");
      if (line !== "ok")
        this.#found.damage({
          code: "database",
          detail: `SQLite: ${line}`,
          repair: "make indexes and derived tables again",
        });
    }
  }

  /** Compares the last records with the head; returns those missing at the end. */
  #checkHead(): Loss[] {
    const head = headOf(this.#db.dir);
    const lastLsn = this.#db.lastLsn();
    if (head === null) {
      if (lastLsn > 0)
        this.#found.notice({
          code: "missing_acknowledged",
          detail: "the file head cannot be read: whether records are missing at the end is not known",
        });
      return [];
    }
    if (head.lsn > lastLsn) {
      const [first, last] = [lastLsn + 1, head.lsn];
      const detail = `acknowledged records are missing at the end: lsn ${first} to ${last}`;
      this.#found.damage({ code: "missing_acknowledged", detail, lsn: first, repair: LOSS_REPAIR });
      return [{ first, last, records: last - first + 1 }];
    }
    const stored = this.#db.sql("SELECT hash, proc, pid, seq FROM records WHERE lsn = ?").get(head.lsn);
    if (stored?.hash instanceof Uint8Array && !sameBytes(stored.hash, head.hash)) {
      const place = {
        proc: String(stored.proc),
        pid: Number(stored.pid),
        seq: Number(stored.seq),
        lsn: head.lsn,
      };
      const detail = "it is not the record that the file head names";
      this.#found.damage({ code: "bad_hash", detail, ...place });
    }
    return [];
  }

  async #checkRows(broken: ReadonlyMap<string, BrokenHistory>): Promise<void> {
    const { pace } = this.#options;
    const repair = "make it again from the records";
    for await (const { proc, pid, seq, found } of rowsAgainstTails(this.#db, pace)) {
      if (this.#isLeftOut(proc, pid) || broken.has(proc)) continue;
      if (seq > found)
        this.#found.damage({
          ...{ code: "gap", detail: missingText(found, seq) },
          ...{ proc, pid, seq: found + 1, repair },
        });
      else if (seq < found) {
        const detail = `its row ends with record ${seq}, its history with ${found}`;
        this.#found.damage({ code: "bad_row", detail, proc, pid, repair });
      }
    }
    for (let proc = this.#db.nextProc(""); proc !== undefined; proc = this.#db.nextProc(proc)) {
      const has = this.#db.sql("SELECT 1 FROM processes WHERE proc = ?").get(proc) !== undefined;
      const tail = has ? undefined : this.#db.tail(proc);
      if (tail !== undefined && !this.#isLeftOut(proc, tail.pid) && !broken.has(proc))
        this.#found.damage({
          ...{ code: "bad_row", detail: "it has records and no row" },
          ...{ proc, pid: tail.pid, repair },
        });
      await pace.next();
    }
  }

  async #checkOpenCalls(): Promise<void> {
    // beside a running daemon, open calls are normal
    if (!this.#options.isAlone) return;
    const text = `SELECT o.proc, o.call, o.lsn, r.pid, r.seq FROM open_calls o LEFT JOIN records r ON r.lsn = o.lsn
      WHERE o.lsn > ? ORDER BY o.lsn LIMIT ${PAGE_ROWS}`;
    for (let after = 0; ; ) {
      const rows = this.#db.sql(text).all(after);
      for (const { proc, call, lsn, pid, seq } of rows) {
        after = Number(lsn);
        if (pid === null || this.#isLeftOut(String(proc), Number(pid))) continue;
        const place = { proc: String(proc), pid: Number(pid), seq: Number(seq), lsn: after };
        const detail = `call ${String(call)} has no result: the next start reports its outcome as unknown`;
        this.#found.notice({ code: "open_intent", detail, ...place });
      }
      if (rows.length < PAGE_ROWS) return;
      await this.#options.pace.next();
    }
  }

  async #checkSnapshots(broken: ReadonlyMap<string, BrokenHistory>): Promise<void> {
    const text =
      "SELECT rowid, proc, seq, state, digest FROM snapshots WHERE rowid > ? ORDER BY rowid LIMIT 1";
    for (
      let row = this.#db.sql(text).get(0);
      row !== undefined;
      row = this.#db.sql(text).get(Number(row.rowid))
    ) {
      const [proc, seq] = [String(row.proc), Number(row.seq)];
      const tail = this.#db.tail(proc);
      const isWhole = createHash("sha256").update(String(row.state)).digest("hex") === row.digest;
      if (!broken.has(proc) && !this.#isLeftOut(proc, tail?.pid ?? -1)) {
        const place = { proc, ...(tail === undefined ? {} : { pid: tail.pid }), seq, repair: "drop it" };
        if (!isWhole)
          this.#found.damage({
            code: "bad_snapshot",
            detail: "it is not what was saved; it is skipped",
            ...place,
          });
        else if (seq > (tail?.seq ?? 0))
          this.#found.damage({
            code: "bad_snapshot",
            detail: "it is of a record that is not there",
            ...place,
          });
      }
      await this.#options.pace.next();
    }
  }
}
