/**
 * The journal's tables as the tools read them: a read-only connection of their own, pages bounded in rows and bytes,
 * and nothing held between two pages. It does not disturb the daemon's writer.
 */
import { dirname } from "node:path";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { KERNEL_UUID } from "../../kernel/ports/journal.ts";
import { toJournalFault } from "../fault.ts";
import type { StoredRecord } from "../journal/chain.ts";
import { openReading } from "../sqlite/open-database.ts";
import { indexedWith } from "../sqlite/schema.ts";

export const PAGE_ROWS = 256;
/** Characters of bodies in one page; a page has at least one record. */
const PAGE_CHARS = 4 * 1024 * 1024;
/** Bytes of SQLite's own cache: a walk through everything must not fill the memory. */
const CACHE_BYTES = 2 * 1024 * 1024;

export interface HashedRecord extends StoredRecord {
  readonly hash: Uint8Array;
}

interface HistoryTail {
  readonly seq: number;
  readonly lsn: number;
  readonly pid: number;
  readonly hash: Uint8Array;
}

const COLUMNS = "lsn, proc, pid, seq, epoch, kind, v, call, at, mono, body, hash";
const SQL = {
  meta: "SELECT value FROM meta WHERE key = ?",
  byLsn: `SELECT ${COLUMNS} FROM records WHERE lsn > ? AND lsn <= ? ORDER BY lsn LIMIT ?`,
  bySeq: `SELECT ${COLUMNS} FROM records WHERE proc = ? AND seq >= ? ORDER BY seq LIMIT ?`,
  lastLsn: "SELECT coalesce(max(lsn), 0) AS value FROM records",
  nextProc: "SELECT min(proc) AS value FROM records WHERE proc > ?",
  tail: "SELECT seq, lsn, pid, hash FROM records WHERE proc = ? ORDER BY seq DESC LIMIT 1",
  hashAt: "SELECT hash FROM records WHERE proc = ? AND seq = ?",
  cutHash: `SELECT json_extract(body, ?) AS hash FROM records WHERE proc = '${KERNEL_UUID}' AND kind = 'journal.repair'
    AND json_extract(body, '$.proc') = ? AND json_extract(body, ?) IS NOT NULL LIMIT 1`,
  ofIndexedKind: `SELECT ${COLUMNS} FROM records
    WHERE proc = ? AND seq > ? AND kind = ? AND ${indexedWith("journal.anchor")} ORDER BY seq LIMIT ?`,
  ofKind: `SELECT ${COLUMNS} FROM records WHERE proc = ? AND seq > ? AND kind = ? ORDER BY seq LIMIT ?`,
} as const;

export class ToolsDatabase {
  readonly db: DatabaseSync;
  /** The journal's directory. */
  readonly dir: string;
  readonly #sql = new Map<string, StatementSync>();

  /** Makes and changes no file. Errors: JournalFault. */
  constructor(path: string) {
    this.dir = dirname(path);
    try {
      this.db = openReading(path);
      this.db.exec(`PRAGMA cache_size = -${CACHE_BYTES / 1024}; PRAGMA mmap_size = 0`);
    } catch (error) {
      throw toJournalFault(error, path);
    }
  }

  /** A statement, prepared once for each text; the texts are constants. */
  sql(text: string): StatementSync {
    const known = this.#sql.get(text);
    if (known !== undefined) return known;
    const made = this.db.prepare(text);
    this.#sql.set(text, made);
    return made;
  }

  hasTable(name: string): boolean {
    return this.sql("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(name) !== undefined;
  }

  get isEmpty(): boolean {
    return this.sql("SELECT 1 FROM sqlite_schema").get() === undefined;
  }

  meta(key: string): unknown {
    return this.sql(SQL.meta).get(key)?.value;
  }

  get kernelId(): string {
    return String(this.meta("kernel_id"));
  }

  lastLsn(): number {
    return Number(this.sql(SQL.lastLsn).get()?.value);
  }

  /** Records with `after` < lsn ≤ `upTo`. */
  byLsn(after: number, upTo: number, limit = PAGE_ROWS): HashedRecord[] {
    return page(this.sql(SQL.byLsn), [after, upTo, limit]);
  }

  /** A history from `fromSeq` on. */
  bySeq(proc: string, fromSeq: number, limit = PAGE_ROWS): HashedRecord[] {
    return page(this.sql(SQL.bySeq), [proc, fromSeq, limit]);
  }

  /** The records of one kind behind `afterSeq`. */
  ofKind(
    proc: string,
    kind: "journal.anchor" | "journal.repair" | "journal.tombstone",
    afterSeq: number,
  ): HashedRecord[] {
    const text = kind === "journal.repair" ? SQL.ofKind : SQL.ofIndexedKind;
    return page(this.sql(text), [proc, afterSeq, kind, PAGE_ROWS]);
  }

  /** The next process with records behind `proc`, by rising UUID; start with "". */
  nextProc(proc: string): string | undefined {
    const value = this.sql(SQL.nextProc).get(proc)?.value;
    return typeof value === "string" ? value : undefined;
  }

  tail(proc: string): HistoryTail | undefined {
    const row = this.sql(SQL.tail).get(proc);
    if (row === undefined) return undefined;
    return { seq: Number(row.seq), lsn: Number(row.lsn), pid: Number(row.pid), hash: bytesOf(row.hash) };
  }

  hashAt(proc: string, seq: number): Uint8Array | undefined {
    const row = this.sql(SQL.hashAt).get(proc, seq);
    return row === undefined ? undefined : bytesOf(row.hash);
  }

  /** The hash of a record that a repair cut, if a fork is based on it. */
  cutHash(proc: string, seq: number): Uint8Array | undefined {
    const row = this.sql(SQL.cutHash).get(`$.bases."${seq}"`, proc, `$.bases."${seq}"`);
    return row === undefined ? undefined : Buffer.from(String(row.hash), "hex");
  }

  close(): void {
    if (this.db.isOpen) this.db.close();
  }
}

function page(statement: StatementSync, args: (string | number)[]): HashedRecord[] {
  const rows: HashedRecord[] = [];
  let chars = 0;
  for (const row of statement.iterate(...args)) {
    const record = toRecord(row);
    rows.push(record);
    chars += record.body.length;
    if (chars >= PAGE_CHARS) break;
  }
  return rows;
}

/** Reads a row that may be damaged: a value of the wrong type gives a record whose hash does not fit. */
function toRecord(row: Record<string, unknown>): HashedRecord {
  return {
    lsn: Number(row.lsn),
    proc: String(row.proc),
    pid: Number(row.pid),
    seq: Number(row.seq),
    epoch: Number(row.epoch),
    kind: String(row.kind),
    v: Number(row.v),
    call: row.call === null ? null : String(row.call),
    at: Number(row.at),
    mono: Number(row.mono),
    body: String(row.body),
    hash: bytesOf(row.hash),
  };
}

function bytesOf(value: unknown): Uint8Array {
  return value instanceof Uint8Array ? value : new Uint8Array(0);
}

export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
