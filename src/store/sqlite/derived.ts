/**
 * The derived tables: rows of processes, open calls, mail not read, members of groups, blobs that are named. They change in
 * the transaction of their records, so that a question costs what is alive, not what ever was. Rows and open calls are changed
 * in memory and written once for each group; they can all be made again from the records.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { RecordKind } from "../../kernel/ports/journal.ts";
import { genesis } from "../journal/chain.ts";
import type { Fact } from "../journal/fact.ts";
import type { ChainedRecord } from "../journal/ledger.ts";
import { endsCall } from "../journal/record-kind.ts";
import { emptyRow, foldRow, type Row } from "../journal/row.ts";
import { fromColumns, isWhole, PUT_ROW, toColumns, toUpdated, UPDATE_ROW } from "./row-columns.ts";

/** Rows kept in memory; others are looked up. About 1 KB each. */
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
  /** What was used longest ago goes first. */
  readonly #rows = new Map<string, Row>();
  readonly #changed = new Map<string, Row>();
  /** Of those, the ones that are written whole. */
  readonly #whole = new Set<string>();
  /** Begun in this group and not ended in it, by process and call: most calls never need a line on the disk. */
  readonly #opened = new Map<
    string,
    { readonly proc: string; readonly call: string; readonly lsn: number }
  >();

  constructor(db: DatabaseSync, kernelId: string) {
    const prepared = Object.entries(SQL).map(([name, text]) => [name, db.prepare(text)]);
    this.#sql = Object.fromEntries(prepared);
    this.#kernelId = kernelId;
  }

  /** As of the last record that was taken. */
  row(proc: string): Row {
    const known = this.#changed.get(proc) ?? this.#rows.get(proc);
    if (known !== undefined) return known;
    const found = this.#sql.row.get(proc);
    return found === undefined ? emptyRow(proc, genesis(this.#kernelId, proc)) : fromColumns(found);
  }

  /** Of a record that is there; undefined: it is not. */
  hashAt(proc: string, seq: number): Uint8Array | undefined {
    const found = this.#sql.hash.get(proc, seq)?.hash;
    return found instanceof Uint8Array ? found : undefined;
  }

  /** The hash that the next record of `proc` follows, if that record says `fact`. */
  hashBefore(proc: string, fact: Fact | null): Uint8Array {
    const row = this.row(proc);
    if (row.lastSeq > 0 || fact?.is !== "forked") return row.lastHash;
    return this.hashAt(fact.from, fact.at) ?? row.lastHash;
  }

  /** After its record is in `records`. */
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

  /** Writes what changed; once for each transaction, before its end. */
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

  /** After a transaction that was undone, or one of somebody else. */
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
    // one of the same name may lie there from before
    this.#sql.settle.run(proc, call);
  }

  #list(proc: string, lsn: number, fact: Fact): void {
    if (fact.is === "mail") this.#sql.mail.run(proc, fact.message, lsn);
    if (fact.is === "read") this.#sql.read.run(proc, fact.message);
    if (fact.is === "joined") this.#sql.joined.run(proc, fact.group, lsn);
    if (fact.is === "left") this.#sql.left.run(proc, fact.group);
  }
}
