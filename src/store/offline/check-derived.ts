/**
 * The tables derived from the records: process rows, open calls, mail, group members, blob references. They are rebuilt
 * in memory, beside the journal, and compared; or rebuilt in place (repair).
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { RecordKind } from "../../kernel/ports/journal.ts";
import { decodeBody, namesIn, peekBody } from "../journal/body.ts";
import { type Fact, factOf } from "../journal/fact.ts";
import { Derived } from "../sqlite/derived.ts";
import { addLaterColumn } from "../sqlite/schema.ts";
import type { Findings } from "./check-findings.ts";
import type { HashedRecord, ToolsDatabase } from "./database.ts";
import type { Pace } from "./pace.ts";

/**
 * For each table: its key columns, and the columns left out of the comparison, because no record determines them or an older
 * program has not filled them.
 */
const TABLES = {
  processes: { key: "proc", not: ["damaged_at", "micro_usd"] },
  open_calls: { key: "proc, call", not: [] },
  mail: { key: "proc, message", not: [] },
  members: { key: "proc, grp", not: [] },
  blob_refs: { key: "digest, proc, seq", not: [] },
} as const;

export const DERIVED_TABLES = Object.keys(TABLES) as readonly (keyof typeof TABLES)[];

/** The fact of one record, with its large strings restored if their blobs exist. */
export async function factOfRecord(db: ToolsDatabase, { kind, body }: HashedRecord): Promise<Fact | null> {
  const known = { kind: kind as RecordKind };
  if (!body.includes('$blob"') || !/^process\./.test(kind))
    return factOf({ ...known, body: peekBody(body) }) ?? null;
  try {
    const whole = await decodeBody(body, async (digest) =>
      readFileSync(join(db.dir, "blobs", digest.slice(0, 2), digest.slice(2))),
    );
    return factOf({ ...known, body: whole }) ?? null;
  } catch {
    return factOf({ ...known, body: peekBody(body) }) ?? null;
  }
}

export class DerivedAgain {
  readonly #db = new DatabaseSync(":memory:");
  readonly #derived: Derived;
  readonly #of: ToolsDatabase;
  #waiting = 0;

  constructor(of: ToolsDatabase) {
    this.#of = of;
    const tables = of.db
      .prepare(
        "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name IN (SELECT value FROM json_each(?))",
      )
      .all(JSON.stringify(["records", ...DERIVED_TABLES]));
    for (const { sql } of tables) this.#db.exec(String(sql));
    addLaterColumn(this.#db);
    this.#derived = new Derived(this.#db, of.kernelId);
  }

  take(record: HashedRecord, fact: Fact | null): void {
    this.#derived.take(record, fact, namesIn(record.body));
    if (++this.#waiting % 256 === 0) this.#derived.flush();
  }

  /** Reports rows that differ. `isBroken`: histories that cannot be compared. */
  async compare(found: Findings, isBroken: (proc: string) => boolean, pace: Pace): Promise<void> {
    this.#derived.flush();
    for (const name of DERIVED_TABLES) {
      const { key, not } = TABLES[name];
      const text = `SELECT * FROM ${name} ORDER BY ${key}`;
      const lines = (db: DatabaseSync): Line[] =>
        db
          .prepare(text)
          .all()
          .filter(({ proc }) => !isBroken(String(proc)))
          .map((row) => line(row, key, not));
      await pace.next();
      for (const { row } of different(lines(this.#db), lines(this.#of.db))) tell(found, name, row);
    }
  }

  close(): void {
    this.#db.close();
  }
}

interface Line {
  readonly row: Record<string, unknown>;
  readonly key: string;
  readonly text: string;
}

function line(row: Record<string, unknown>, key: string, not: readonly string[]): Line {
  const shown = Object.entries(row).filter(([name]) => !not.includes(name));
  const text = JSON.stringify(shown.map(([, value]) => (value instanceof Uint8Array ? [...value] : value)));
  return { row, key: JSON.stringify(key.split(", ").map((name) => row[name])), text };
}

/** Lines that are in only one of the two lists, or differ. */
function different(made: readonly Line[], there: readonly Line[]): readonly Line[] {
  const wanted = new Map(made.map((each) => [each.key, each]));
  const wrong: Line[] = [];
  for (const each of there) {
    if (wanted.get(each.key)?.text !== each.text) wrong.push(each);
    wanted.delete(each.key);
  }
  return [...wrong, ...wanted.values()];
}

function tell(found: Findings, table: string, { proc, pid }: Record<string, unknown>): void {
  const place = { proc: String(proc), ...(typeof pid === "number" ? { pid } : {}) };
  const detail = `${table}: what is kept of it does not follow from its records`;
  found.damage({ code: "bad_row", detail, ...place, repair: "make it again from the records" });
}
