/**
 * The derived tables: process rows, open calls, unread mail, group members, blob references. They change in the same
 * transaction as their records, so that a query costs in proportion to live processes, not to the whole history. Rows
 * and open calls are changed in memory and written once per group. All tables can be rebuilt from the records.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { RecordKind } from "../../kernel/ports/journal.ts";
import { genesis } from "../journal/chain.ts";
import type { Fact } from "../journal/fact.ts";
import type { ChainedRecord } from "../journal/ledger.ts";
import { endsCall } from "../journal/record-kind.ts";
import { emptyRow, foldRow, type Row } from "../journal/row.ts";
import { fromColumns, isWhole, PUT_ROW, toColumns, toUpdated, UPDATE_ROW } from "./row-columns.ts";

/** Most rows kept in memory, about 1 KB each; other rows are read from the database. */
const MAX_ROWS_KEPT = 4096;

const SQL = {
  row: "SELECT * FROM processes WHERE proc = ?",
  putRow: PUT_ROW,
  updateRow: UPDATE_ROW,
  hash: "SELECT hash FROM records WHERE proc = ? AND seq = ?",
  open: "INSERT OR REPLACE INTO open_calls (proc, call, lsn) VALUES (?,?,?)",
  settle: "DELETE FROM open_calls WHERE proc = ? AND call = ?",
  mail: "INSERT OR REPLACE INTO mail (proc, message, lsn) VALUES (?,?,?)",
  read: "DELETE FROM mail WHERE proc = ? AND message = ?",
  joined: "INSERT OR REPLACE INTO members (proc, grp, lsn) VALUES (?,?,?)",
  left: "DELETE FROM members WHERE proc = ? AND grp = ?",
  names: "INSERT OR IGNORE INTO blob_refs (digest, proc, seq) VALUES (?,?,?)",
} as const;

export class Derived {
  readonly #sql: Readonly<Record<keyof typeof SQL, StatementSync>>;
  readonly #kernelId: string;
  /** Rows in order of last use; the one unused for longest is dropped first. */
  readonly #rows = new Map<string, Row>();
  readonly #changed = new Map<string, Row>();
  /** The changed rows of which every column must be written. */
  readonly #whole = new Set<string>();
  /** Calls begun and not ended in this group, by process and call: most calls never need a row on the disk. */
  readonly #opened = new Map<
    string,
    { readonly proc: string; readonly call: string; readonly lsn: number }
  >();

  constructor(db: DatabaseSync, kernelId: string) {
    const prepared = Object.entries(SQL).map(([name, text]) => [name, db.prepare(text)]);
    this.#sql = Object.fromEntries(prepared);
    this.#kernelId = kernelId;
  }

  /** The row of `proc` after its last record, including records of the current group. */
  row(proc: string): Row {
    const known = this.#changed.get(proc) ?? this.#rows.get(proc);
    if (known !== undefined) return known;
    const found = this.#sql.row.get(proc);
    return found === undefined ? emptyRow(proc, genesis(this.#kernelId, proc)) : fromColumns(found);
  }

  /** The hash of a record; undefined: the record does not exist. */
  hashAt(proc: string, seq: number): Uint8Array | undefined {
    const found = this.#sql.hash.get(proc, seq)?.hash;
    return found instanceof Uint8Array ? found : undefined;
  }

  /** The hash that the next record of `proc` follows, if `fact` is the fact of that record. */
  hashBefore(proc: string, fact: Fact | null): Uint8Array {
    const row = this.row(proc);
    if (row.lastSeq > 0 || fact?.is !== "forked") return row.lastHash;
    return this.hashAt(fact.from, fact.at) ?? row.lastHash;
  }

  /** Applies a record that was just inserted into `records`. */
  take(record: ChainedRecord, fact: Fact | null, names: readonly string[]): void {
    const { proc, lsn, seq, call } = record;
    const kind = record.kind as RecordKind;
    const row = this.row(proc);
    this.#rows.delete(proc);
    this.#changed.set(proc, row);
    if (isWhole(row, record, fact)) this.#whole.add(proc);
    foldRow(row, record, fact);
    row.lastHash = record.hash;
    if (call !== null && kind === "call.intent") this.#opened.set(`${proc} ${call}`, { proc, call, lsn });
    if (call !== null && endsCall(kind)) this.#settle(proc, call);
    if (fact !== null) this.#list(proc, lsn, fact);
    for (const digest of names) this.#sql.names.run(digest, proc, seq);
  }

  /** Writes the changes; called once at the end of each transaction. */
  flush(): void {
    for (const { proc, call, lsn } of this.#opened.values()) this.#sql.open.run(proc, call, lsn);
    for (const [proc, row] of this.#changed) {
      if (this.#whole.has(proc)) this.#sql.putRow.run(...toColumns(row));
      else this.#sql.updateRow.run(...toUpdated(row));
      this.#rows.set(proc, row);
    }
    this.#clearChanges();
    for (const oldest of this.#rows.keys()) {
      if (this.#rows.size <= MAX_ROWS_KEPT) break;
      this.#rows.delete(oldest);
    }
  }

  /** Drops the cached rows after a transaction was rolled back or another connection wrote. */
  forget(): void {
    this.#rows.clear();
    this.#clearChanges();
  }

  #clearChanges(): void {
    this.#changed.clear();
    this.#whole.clear();
    this.#opened.clear();
  }

  #settle(proc: string, call: string): void {
    this.#opened.delete(`${proc} ${call}`);
    // an earlier group may have stored a call of the same name
    this.#sql.settle.run(proc, call);
  }

  #list(proc: string, lsn: number, fact: Fact): void {
    if (fact.is === "mail") this.#sql.mail.run(proc, fact.message, lsn);
    if (fact.is === "read") this.#sql.read.run(proc, fact.message);
    if (fact.is === "joined") this.#sql.joined.run(proc, fact.group, lsn);
    if (fact.is === "left") this.#sql.left.run(proc, fact.group);
  }
}
