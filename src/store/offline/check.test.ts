import {
  appendFileSync,
  closeSync,
  cpSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../lib/time/system-clock.ts";
import { type CheckResult, checkJournal } from "./check.ts";
import { Pace } from "./pace.ts";
import { repairJournal } from "./repair.ts";
import { copyOf, draft, FIRST, FORK, makePast, offline, openHere, SECOND, spawned, sql } from "./testing.ts";

let past: string;
const made: string[] = [];

beforeAll(async () => {
  past = await makePast();
  made.push(past);
});
afterAll(() => {
  for (const dir of made) rmSync(dir, { recursive: true, force: true });
});

function copy(): string {
  const dir = copyOf(past);
  made.push(dir);
  return dir;
}

const pace = () => new Pace(systemClock, 1);
const look = (dir: string, full = true, only: string[] = []): Promise<CheckResult> =>
  checkJournal(dir, { full, only, isAlone: true, pace: pace(), progress: () => {} });
const damage = ({ findings }: CheckResult) => findings.filter(({ severity }) => severity === "damage");
const codes = (result: CheckResult) => [...new Set(damage(result).map(({ code }) => code))].sort();
const blobs = (dir: string) =>
  readdirSync(join(dir, "blobs"), { recursive: true, encoding: "utf8" })
    .map((name) => join(dir, "blobs", name))
    .filter((path) => /[0-9a-f]{62}$/.test(path));

function flip(path: string, at: number): void {
  const bytes = readFileSync(path);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(path, bytes);
}

/** Where these bytes lie in the file: at rest they lie there once, or all of them mean the same. */
function placeOf(path: string, text: string): number {
  const at = readFileSync(path).indexOf(text);
  expect(at).toBeGreaterThan(0);
  return at;
}

test("checkJournal() of a journal that is whole finds the open call and no damage", async () => {
  const result = await look(past);
  expect(damage(result)).toEqual([]);
  expect(result).toMatchObject({ processes: 3, blobs: 1, losses: [] });
  expect(result.findings).toMatchObject([{ code: "open_intent", severity: "notice", pid: 1, seq: 10 }]);
  expect(codes(await look(past, false))).toEqual([]);
});

test("checkJournal() where there is none finds nothing and makes nothing", async () => {
  const dir = mkdtempSync(join(tmpdir(), "crux-tools-"));
  made.push(dir);
  expect(await look(dir)).toMatchObject({ findings: [], records: 0 });
  expect(readdirSync(dir)).toEqual([]);
});

const db = (dir: string) => join(dir, "journal.db");

/** What is done, what full finds, where, and what can be done about it. */
const MUTILATIONS: readonly (readonly [
  what: string,
  mutilate: (dir: string) => void,
  finds: readonly string[],
  place: object,
  isMended: boolean,
])[] = [
  [
    "a flipped bit of a record's body",
    (dir) => flip(db(dir), placeOf(db(dir), "second 4")),
    ["bad_hash"],
    { pid: 2, seq: 5 },
    true,
  ],
  [
    "an edited body",
    (dir) => void sql(dir, "UPDATE records SET body = replace(body, 'first 3', 'first 9')"),
    ["bad_hash"],
    { pid: 1, seq: 4 },
    true,
  ],
  [
    "a body that is no JSON",
    (dir) => void sql(dir, "UPDATE records SET body = '{' WHERE proc = ? AND seq = 4", SECOND),
    ["bad_hash"],
    { pid: 2, seq: 4 },
    true,
  ],
  [
    "a hash that was taken away",
    (dir) => void sql(dir, "UPDATE records SET hash = NULL WHERE proc = ? AND seq = 3", FIRST),
    ["bad_hash"],
    { pid: 1, seq: 3 },
    true,
  ],
  [
    "a record taken out",
    (dir) => void sql(dir, "DELETE FROM records WHERE proc = ? AND seq = 6", SECOND),
    ["gap"],
    {},
    true,
  ],
  [
    "the last record of a process taken out",
    (dir) => void sql(dir, "DELETE FROM records WHERE proc = ? AND seq = 10", SECOND),
    ["bad_row", "gap"],
    {},
    true,
  ],
  [
    "all records of a process taken out",
    (dir) => void sql(dir, "DELETE FROM records WHERE proc = ?", SECOND),
    ["bad_row", "gap"],
    {},
    true,
  ],
  [
    "a row taken out",
    (dir) => void sql(dir, "DELETE FROM processes WHERE proc = ?", SECOND),
    ["bad_row"],
    { proc: SECOND },
    true,
  ],
  [
    "a row that tells something else",
    (dir) => void sql(dir, "UPDATE processes SET tokens_used = 7 WHERE proc = ?", SECOND),
    ["bad_row"],
    { proc: SECOND },
    true,
  ],
  [
    "a call that is not listed",
    (dir) => void sql(dir, "DELETE FROM open_calls"),
    ["bad_row"],
    { proc: FIRST },
    true,
  ],
  [
    "a snapshot that is garbage",
    (dir) => void sql(dir, "UPDATE snapshots SET state = 'x'"),
    ["bad_snapshot"],
    { pid: 1, seq: 5 },
    true,
  ],
  ["a blob that was flipped", (dir) => flip(blobs(dir)[0]!, 3), ["bad_blob"], {}, false],
  ["a blob that is gone", (dir) => rmSync(blobs(dir)[0]!), ["missing_blob"], { pid: 3, seq: 3 }, false],
];

describe.each(MUTILATIONS)("%s", (_what, mutilate, finds, place, isMended) => {
  test("is found, and repair does what it says and no more", async () => {
    const dir = copy();
    mutilate(dir);
    const before = await look(dir);
    expect(codes(before)).toEqual(finds);
    expect(damage(before)[0]).toMatchObject(place);

    const { quarantine } = await repairJournal(dir, before, { now: new Date(0), pace: pace() });
    expect(readdirSync(quarantine).length).toBeGreaterThan(0);
    const after = await look(dir);
    if (isMended) expect(damage(after)).toEqual([]);
    // the journal opens, and what was not touched is there
    const journal = await openHere(dir);
    expect((await journal.read(FORK, 1, 2)).map(({ seq }) => seq)).toEqual([1, 2]);
    await journal.close();
    expect(codes(await look(dir))).toEqual(isMended ? [] : codes(after));
  });
});

test("a repaired history goes on after its last good record, and what was cut lies in the quarantine", async () => {
  const dir = copy();
  sql(dir, "UPDATE records SET body = replace(body, 'first 3', 'first 9')");
  const { quarantine } = await repairJournal(dir, await look(dir), { now: new Date(0), pace: pace() });
  const cut = readFileSync(join(quarantine, "records.ndjson"), "utf8").trimEnd().split("\n");
  expect(cut.map((line) => JSON.parse(line) as object)).toMatchObject(
    [4, 5, 6, 7, 8, 9, 10].map((seq) => ({ proc: FIRST, seq })),
  );
  const journal = await openHere(dir);
  expect(await journal.append([draft(1, "ctx.record", {})], { expect: 3 })).toMatchObject([{ seq: 4 }]);
  await journal.close();
  expect(damage(await look(dir))).toEqual([]);
  const verified = await offline(dir).verify({});
  expect(verified.broken).toBeNull();
});

test("a fork of a history that was cut before it keeps its records, and is told", async () => {
  const dir = copy();
  sql(dir, "UPDATE records SET body = '{}' WHERE proc = ? AND seq = 2", FIRST);
  await repairJournal(dir, await look(dir), { now: new Date(0), pace: pace() });
  expect(damage(await look(dir))).toMatchObject([
    { code: "gap", pid: 3, seq: 1, detail: expect.stringContaining(FIRST) },
  ]);
  expect(sql(dir, "SELECT count(*) AS n FROM records WHERE proc = ?", FORK)).toEqual([{ n: 3 }]);
  expect((await offline(dir).verify({})).broken).toBeNull();
});

test("a flipped bit in the write-ahead log is missing_acknowledged with its range, though SQLite reports ok", async () => {
  const source = await makePast();
  made.push(source);
  // as a machine that dies leaves it: the log not yet in the database
  const journal = await openHere(source);
  for (let n = 0; n < 20; n++) await journal.append([draft(2, "process.log", { message: `lost ${n}` })]);
  const dir = mkdtempSync(join(tmpdir(), "crux-tools-"));
  made.push(dir);
  cpSync(source, dir, { recursive: true });
  await journal.close();

  flip(`${db(dir)}-wal`, placeOf(`${db(dir)}-wal`, "lost 9"));
  const result = await look(dir);
  expect(codes(result)).toEqual(["missing_acknowledged"]);
  expect(result.losses[0]?.records).toBeGreaterThanOrEqual(9);
  expect(sql(dir, "PRAGMA integrity_check")).toEqual([{ integrity_check: "ok" }]);

  await repairJournal(dir, result, { now: new Date(0), pace: pace() });
  expect(damage(await look(dir))).toEqual([]);
  expect((await offline(dir).verify({})).broken).toBeNull();
});

test("a torn tail of the write-ahead log is a notice", async () => {
  const source = await makePast();
  made.push(source);
  const journal = await openHere(source);
  await journal.append([spawned(4)]);
  const dir = mkdtempSync(join(tmpdir(), "crux-tools-"));
  made.push(dir);
  cpSync(source, dir, { recursive: true });
  await journal.close();
  // the begin of a frame of this log, and no more
  const wal = readFileSync(`${db(dir)}-wal`);
  appendFileSync(`${db(dir)}-wal`, wal.subarray(32, 32 + 1_000));
  const result = await look(dir, false);
  expect(damage(result)).toEqual([]);
  expect(result.findings.map(({ code }) => code)).toContain("torn_tail");
});

test("a database that was cut short is damage, and told", async () => {
  const dir = copy();
  truncateSync(db(dir), 3 * 4096 + 17);
  expect(codes(await look(dir))).toContain("database");
});

test("a file that is no database is damage, and left as it is", async () => {
  const dir = copy();
  writeFileSync(db(dir), "no journal\n".repeat(500));
  const result = await look(dir);
  expect(damage(result)).toMatchObject([
    { code: "database", detail: expect.stringContaining("not a database") },
  ]);
  expect(readFileSync(db(dir), "utf8")).toBe("no journal\n".repeat(500));
});

test("a database that is gone while the head is there is damage", async () => {
  const dir = copy();
  for (const name of ["journal.db", "journal.db-wal", "journal.db-shm"])
    rmSync(join(dir, name), { force: true });
  expect(codes(await look(dir))).toEqual(["database"]);
  expect(existsSync(db(dir))).toBe(false);
});

test("an empty database is damage, unless nothing was ever acknowledged: the machine failed during the first start", async () => {
  const dir = copy();
  for (const name of ["journal.db-wal", "journal.db-shm"]) rmSync(join(dir, name), { force: true });
  writeFileSync(db(dir), "");
  expect(codes(await look(dir))).toEqual(["schema"]);
  writeFileSync(join(dir, "head"), Buffer.alloc(128));
  const { findings } = await look(dir);
  expect(findings).toMatchObject([{ code: "schema", severity: "notice" }]);
});

test("a first write that was not finished is a notice, and what the daemon makes of it is whole", async () => {
  const dir = copy();
  for (const name of readdirSync(dir)) rmSync(join(dir, name), { recursive: true, force: true });
  const first = new DatabaseSync(db(dir));
  first.exec("PRAGMA cache_size = 1; BEGIN; CREATE TABLE t (x)");
  const fill = first.prepare("INSERT INTO t VALUES (randomblob(1000))");
  for (let n = 0; n < 100; n++) fill.run();
  // as it lies there in the middle of the transaction
  const cut = copyOf(dir);
  made.push(cut);
  first.exec("ROLLBACK");
  first.close();
  expect(existsSync(`${db(cut)}-journal`)).toBe(true);
  expect((await look(cut)).findings).toMatchObject([{ code: "schema", severity: "notice" }]);
  await (await openHere(cut)).close();
  expect((await look(cut)).findings).toEqual([]);
});

test("a journal of a newer version is not judged", async () => {
  const dir = copy();
  sql(dir, "UPDATE meta SET value = 99 WHERE key = 'schema'");
  expect(damage(await look(dir))).toMatchObject([
    { code: "schema", detail: expect.stringContaining("newer crux") },
  ]);
});

test("the file of a program that summed no costs is whole, and goes on: what came before is not known", async () => {
  const dir = copy();
  sql(dir, "ALTER TABLE processes DROP COLUMN micro_usd");
  expect(damage(await look(dir))).toEqual([]);
  const journal = await openHere(dir);
  const paid = { ok: true, cost: { tokens: 3, usd: 0.5 } };
  await journal.append([draft(1, "call.result", paid), spawned(7), draft(7, "call.result", paid)]);
  const rows = await Promise.all([1, 7].map((n) => journal.row(draft(n, "signal", {}).proc)));
  expect(rows.map((row) => row?.microUsdUsed)).toEqual([null, 500_000]);
  await journal.close();
  expect(damage(await look(dir))).toEqual([]);
});

test("`only` looks at the histories that are named", async () => {
  const dir = copy();
  sql(dir, "UPDATE records SET body = replace(body, 'first 3', 'first 9')");
  expect(codes(await look(dir, false, ["2", FORK]))).toEqual([]);
  expect(codes(await look(dir, true, ["1"]))).toEqual(["bad_hash"]);
});

test("without `full` the last 1,000 records of each history are looked at", async () => {
  const dir = copy();
  const journal = await openHere(dir);
  await journal.append(
    Array.from({ length: 1_200 }, (_, n) => draft(1, "process.log", { message: `line ${n}` })),
  );
  await journal.close();
  sql(dir, "UPDATE records SET body = '0' WHERE proc = ? AND seq = 20", FIRST);
  expect(codes(await look(dir, false))).toEqual([]);
  expect(codes(await look(dir, true))).toEqual(["bad_hash"]);
  sql(dir, "UPDATE records SET body = '0' WHERE proc = ? AND seq = 500", FIRST);
  expect(damage(await look(dir, false))).toMatchObject([{ code: "bad_hash", pid: 1, seq: 500 }]);
});

test("a head that cannot be read is a notice", async () => {
  const dir = copy();
  const file = openSync(join(dir, "head"), "r+");
  writeSync(file, Buffer.alloc(128));
  closeSync(file);
  const result = await look(dir);
  expect(damage(result)).toEqual([]);
  expect(result.findings).toContainEqual(
    expect.objectContaining({ code: "missing_acknowledged", severity: "notice" }),
  );
});
