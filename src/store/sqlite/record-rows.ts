/**
 * The rows of a group on their way into `records`: many by one statement, which costs half of one statement for each.
 * Rows that were added are in the table after `flush`, which comes before every look at the table and before the commit.
 */
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { ChainedRecord } from "../journal/ledger.ts";

const COLUMNS = "lsn, proc, pid, seq, epoch, kind, v, call, at, mono, body, hash";
const WIDTH = COLUMNS.split(", ").length;
/** Rows of one statement, the most first. */
const SIZES = [32, 8, 1] as const;

export class RecordRows {
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
