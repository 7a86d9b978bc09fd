import { rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { KERNEL_UUID } from "../../kernel/ports/journal.ts";
import type { Anchor } from "../../kernel/ports/journal-tools.ts";
import { chainHash, genesis, type StoredRecord } from "../journal/chain.ts";
import { copyOf, draft, FIRST, FORK, makePast, offline, openHere, SECOND, sql } from "./testing.ts";

let past: string;
let dir: string;
let roots: Anchor[];

beforeAll(async () => {
  past = await makePast();
  roots = [];
  for await (const page of offline(past).anchors()) roots.push(...page);
});
afterAll(() => rmSync(past, { recursive: true }));
beforeEach(() => {
  dir = copyOf(past);
});
afterEach(() => rmSync(dir, { recursive: true }));

const verify = (against: readonly Anchor[] = []) => offline(dir).verify({ against });

test("verify() of a journal that is whole holds, with its root, and with the root that was kept elsewhere", async () => {
  const report = await verify(roots);
  expect(report).toMatchObject({ broken: null, processes: 3, anchors: 1, uncheckedAnchors: 0 });
  expect(report.lastAnchor).toEqual(roots[0]);
  expect(report.records).toBe(Number(sql(dir, "SELECT count(*) AS n FROM records")[0]?.n));
});

const COLUMNS = [
  "pid",
  "epoch",
  "v",
  "at",
  "mono",
  "kind",
  "call",
  "lsn",
  "seq",
  "proc",
  "body",
  "hash",
] as const;

/** Another value of the same column. */
function changed(value: unknown, at: number, by: number): string | number | Uint8Array {
  if (typeof value === "number") return value + by;
  if (value instanceof Uint8Array)
    return value.map((byte, n) => (n === at % value.length ? byte ^ by : byte));
  const text = value === null ? "" : String(value);
  if (text === "") return "x";
  const n = at % text.length;
  return `${text.slice(0, n)}${String.fromCharCode(text.charCodeAt(n) ^ (by & 0x7f) || 1)}${text.slice(n + 1)}`;
}

test("verify() finds any change of one byte of a record, wherever it is", async () => {
  const total = Number(sql(past, "SELECT count(*) AS n FROM records")[0]?.n);
  const db = new DatabaseSync(join(dir, "journal.db"));
  try {
    const property = fc.asyncProperty(
      fc.nat(total - 1),
      fc.constantFrom(...COLUMNS),
      fc.nat(5_000),
      fc.integer({ min: 1, max: 127 }),
      async (n, column, at, by) => {
        const row = db.prepare("SELECT rowid, * FROM records ORDER BY lsn LIMIT 1 OFFSET ?").get(n)!;
        const value = changed(row[column], at, by);
        const set = (to: unknown, lsn: unknown) =>
          db.prepare(`UPDATE records SET ${column} = ? WHERE lsn = ?`).run(to as string, lsn as number);
        try {
          set(value, row.lsn);
        } catch {
          // its place is taken already: the database itself refuses
          return;
        }
        const { broken } = await verify();
        set(row[column], column === "lsn" ? (value as number) : row.lsn);
        expect(broken).not.toBeNull();
        expect(broken?.lsn).toBeGreaterThan(0);
      },
    );
    await fc.assert(property, { numRuns: 150 });
    expect((await verify()).broken).toBeNull();
  } finally {
    db.close();
  }
});

/** What somebody does who can write the database, and knows nothing of hashes. */
const CHANGES: readonly (readonly [what: string, change: string, broken: object])[] = [
  [
    "an edited body",
    `UPDATE records SET body = '{}' WHERE proc = '${FIRST}' AND seq = 4`,
    { code: "bad_hash", pid: 1, seq: 4, lsn: 7 },
  ],
  [
    "a record taken out of the middle",
    `DELETE FROM records WHERE proc = '${FIRST}' AND seq = 4`,
    { code: "gap", pid: 1, seq: 4, lsn: 7 },
  ],
  [
    "the last record of a process",
    `DELETE FROM records WHERE proc = '${SECOND}' AND seq = 10`,
    { code: "gap", pid: 2, seq: 10 },
  ],
  [
    "a whole process",
    `DELETE FROM records WHERE proc = '${SECOND}'`,
    { code: "gap", pid: 2, seq: 1, lsn: 2 },
  ],
  [
    "a root",
    `UPDATE records SET body = replace(body, '"processes":', '"processes":1') WHERE kind = 'journal.anchor'`,
    { code: "bad_hash", pid: 0 },
  ],
];

test.each(CHANGES)("verify() names %s that was changed", async (_what, change, broken) => {
  sql(dir, change);
  expect((await verify()).broken).toMatchObject(broken);
});

test("verify() misses a process whose row was taken out with it", async () => {
  sql(dir, `DELETE FROM records WHERE proc = '${SECOND}'`);
  sql(dir, `DELETE FROM processes WHERE proc = '${SECOND}'`);
  expect((await verify()).broken).toMatchObject({ code: "gap", lsn: 2 });
});

/** Somebody who can write the database makes all hashes of one history again. */
function forge(proc: string): void {
  const db = new DatabaseSync(join(dir, "journal.db"));
  try {
    const kernelId = String(db.prepare("SELECT value FROM meta WHERE key = 'kernel_id'").get()?.value);
    let previous: Uint8Array = genesis(kernelId, proc);
    for (const row of db.prepare("SELECT * FROM records WHERE proc = ? ORDER BY seq").all(proc)) {
      previous = chainHash(previous, row as unknown as StoredRecord);
      db.prepare("UPDATE records SET hash = ? WHERE lsn = ?").run(previous, row.lsn as number);
    }
    db.prepare("UPDATE processes SET last_hash = ? WHERE proc = ?").run(previous, proc);
  } finally {
    db.close();
  }
}

describe("a history whose hashes were all made again", () => {
  test("does not fit the root over it", async () => {
    sql(dir, `UPDATE records SET body = '{"role":"user"}' WHERE proc = '${SECOND}' AND seq = 4`);
    forge(SECOND);
    expect((await verify()).broken).toMatchObject({ code: "bad_anchor", lsn: roots[0]!.lsn });
  });

  test("does not fit a root that was kept elsewhere, when the roots were made again, too", async () => {
    sql(dir, `UPDATE records SET body = '{"role":"user"}' WHERE proc = '${SECOND}' AND seq = 4`);
    // no root is left in the journal, and nothing says that there was one
    sql(dir, `UPDATE records SET kind = 'kernel.clock' WHERE kind = 'journal.anchor'`);
    forge(SECOND);
    forge(KERNEL_UUID);
    expect((await verify()).broken).toBeNull();
    expect((await verify(roots)).broken).toMatchObject({ code: "bad_anchor", lsn: roots[0]!.lsn });
  });
});

test("a journal that ends before a root that was kept elsewhere is broken there", async () => {
  const later = { ...roots[0]!, lsn: 1_000 };
  const last = Number(sql(dir, "SELECT max(lsn) AS n FROM records")[0]?.n);
  expect((await verify([later])).broken).toMatchObject({ code: "bad_anchor", lsn: last + 1 });
});

test("a fork stands on its parent's hash: an edited prefix is told as the parent's", async () => {
  sql(dir, `UPDATE records SET body = '{}' WHERE proc = '${FIRST}' AND seq = 2`);
  expect((await verify()).broken).toMatchObject({ code: "bad_hash", pid: 1, seq: 2 });
  forge(FIRST);
  expect((await verify()).broken).toMatchObject({ code: "bad_hash", pid: 3, proc: FORK, seq: 1 });
});

test("verify() ends by its signal, with progress told on the way", async () => {
  const journal = await openHere(dir);
  await journal.append(Array.from({ length: 600 }, (_, n) => draft(1, "process.log", { n })));
  await journal.close();
  const stop = new AbortController();
  const told: number[] = [];
  const progress = (records: number) => {
    told.push(records);
    stop.abort(new Error("enough"));
  };
  await expect(offline(dir).verify({ signal: stop.signal, progress })).rejects.toThrow("enough");
  expect(told).toHaveLength(1);
});
