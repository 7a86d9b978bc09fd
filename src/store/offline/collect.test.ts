import { existsSync, mkdtempSync, rmSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Journal } from "../../kernel/ports/journal.ts";
import { systemClock } from "../../lib/time/system-clock.ts";
import { blobPath } from "../journal/blobs.ts";
import { JournalKeeper } from "./keeper.ts";
import { anchorsOf, draft, exited, LARGE, openHere, proc, spawned, sql } from "./testing.ts";
import { openTools, type StoreTools } from "./tools.ts";

const DAY = 24 * 3600 * 1000;
const HOUR = 3600 * 1000;
const MAX = 2 ** 30;

let dir: string;
let journal: Journal;
let tools: StoreTools;
const held = new Set<number>();
/** Wall clock of the records. */
let now: number;

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "crux-tools-"));
  now = 1_800_000_000_000;
  held.clear();
  const clock = { ...systemClock, now: () => now };
  journal = await openHere(dir, { clock });
  tools = openTools(dir, { clock, journal, maxBytes: () => MAX, isHeld: (pid) => held.has(pid) });
});
afterEach(async () => {
  await journal.close();
  rmSync(dir, { recursive: true });
});

const collect = (more: object = {}, retention: object = {}) =>
  tools.collect({
    retention: { cleanupPeriodDays: 30, maxBytes: MAX, ...retention },
    now,
    dryRun: false,
    ...more,
  });
const live = (pid: number) => journal.append([spawned(pid)]);
const ended = (pid: number, ...between: Parameters<typeof draft>[]) =>
  journal.append([spawned(pid), ...between.map((each) => draft(...each)), exited(pid)]);
const gone = ({ processes }: Awaited<ReturnType<typeof collect>>) => processes.map(({ pid }) => pid);

describe("collect() by age", () => {
  test("takes what has ended and was idle for longer, and leaves a tombstone; verify still holds", async () => {
    await ended(1, [1, "ctx.record", { role: "user", content: "old" }]);
    await live(2);
    await anchorsOf(tools.path, journal).close();
    now += 29 * DAY;
    await ended(3);
    expect(gone(await collect())).toEqual([]);
    now += 2 * DAY;
    const report = await collect();
    expect(report.processes).toEqual([{ pid: 1, proc: proc(1), reason: "age" }]);
    expect(report).toMatchObject({ records: 3 });
    expect(await journal.read(proc(1), 1, 9)).toEqual([]);
    expect(await journal.row(proc(1))).toBeUndefined();
    expect(
      sql(dir, "SELECT json_extract(body, '$.pid') AS pid FROM records WHERE kind = 'journal.tombstone'"),
    ).toEqual([{ pid: 1 }]);
    expect(await tools.verify({})).toMatchObject({ broken: null, anchors: 1, uncheckedAnchors: 0 });
    expect((await tools.check({ full: true })).findings).toEqual([]);
  });

  test("0 days keeps all", async () => {
    await ended(1);
    now += 9_000 * DAY;
    expect(gone(await collect({}, { cleanupPeriodDays: 0 }))).toEqual([]);
  });

  test("leaves what a person keeps, what is in memory, and what a fork that stays goes on from", async () => {
    await ended(1, [1, "process.described", { kept: true }]);
    await ended(2);
    await ended(3);
    await ended(4);
    await journal.append([draft(5, "process.forked", { from: proc(3), at: 1 }), spawned(5)]);
    await journal.append([draft(6, "process.forked", { from: proc(4), at: 1 }), spawned(6), exited(6)]);
    now += 40 * DAY;
    held.add(2);
    // the fork before its parent: its chain stands on it
    expect(gone(await collect())).toEqual([6, 4]);
    expect((await tools.verify({})).broken).toBeNull();
    held.clear();
    await journal.append([exited(5)]);
    now += 31 * DAY;
    expect(gone(await collect())).toEqual([2, 5, 3]);
    expect(await journal.row(proc(1))).toBeDefined();
    expect((await tools.verify({})).broken).toBeNull();
  });

  test("where nothing can be recorded nothing goes, and a dry run tells what would", async () => {
    await ended(1);
    now += 40 * DAY;
    const state = { state: "degraded", reason: "journal_full", path: "/x", freeBytes: 0, needBytes: 1 };
    Object.defineProperty(journal, "state", { value: state, configurable: true });
    await expect(collect()).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: "journal_full: the journal at /x takes nothing; nothing was removed",
    });
    expect(gone(await collect({ dryRun: true }))).toEqual([1]);
    Reflect.deleteProperty(journal, "state");
    expect(gone(await collect())).toEqual([1]);
  });

  test("a dry run tells the same and changes nothing", async () => {
    await ended(1, [1, "ctx.record", { content: LARGE }]);
    now += 40 * DAY;
    const before = sql(dir, "SELECT count(*) AS n FROM records");
    const dry = await collect({ dryRun: true });
    expect(sql(dir, "SELECT count(*) AS n FROM records")).toEqual(before);
    const { usage: _, ...done } = await collect();
    expect(dry).toMatchObject(done);
    expect(done).toMatchObject({ blobs: 1, records: 3 });
  });
});

test("collect() makes room from the oldest on, and no more than is needed", async () => {
  for (let pid = 1; pid <= 6; pid++) {
    const many = Array.from({ length: 40 }, (_, n) =>
      draft(pid, "process.log", { n, text: "x".repeat(10_000) }),
    );
    await journal.append([spawned(pid), ...many, ...(pid === 2 ? [] : [exited(pid)])]);
  }
  const { databaseBytes } = await tools.usage();
  const report = await collect(
    {},
    { cleanupPeriodDays: 0, maxBytes: Math.floor((databaseBytes - 700_000) / 0.9) },
  );
  expect(report.processes).toMatchObject([
    { pid: 1, reason: "space" },
    { pid: 3, reason: "space" },
  ]);
  expect(report.usage.reusableBytes).toBeGreaterThan(500_000);
  expect((await tools.verify({})).broken).toBeNull();
});

test("blobs that nothing names go after a day, others stay", async () => {
  await journal.append([spawned(1), draft(1, "ctx.record", { content: LARGE })]);
  const unnamed = await journal.putBlob(Buffer.from("nobody"));
  expect(await collect({ now: Date.now() })).toMatchObject({ blobs: 0 });
  const old = new Date(Date.now() - 25 * HOUR);
  utimesSync(blobPath(dir, unnamed), old, old);
  expect(await collect({ now: Date.now() })).toMatchObject({ blobs: 1 });
  expect(existsSync(blobPath(dir, unnamed))).toBe(false);
  expect((await journal.read(proc(1), 2, 1))[0]?.body).toEqual({ content: LARGE });
});

test("a removal that was cut off is brought to its end by the next", async () => {
  await ended(
    1,
    ...Array.from({ length: 400 }, (_, n) => [1, "process.log", { n }] as Parameters<typeof draft>),
  );
  now += 40 * DAY;
  // the tombstone cannot be written: the row is gone by then
  const failing = {
    ...journal,
    epoch: journal.epoch,
    state: journal.state,
    sync: () => journal.sync(),
    append: async () => Promise.reject(new Error("cut off")),
  };
  const first = openTools(dir, {
    clock: systemClock,
    journal: failing as unknown as Journal,
    maxBytes: () => MAX,
  });
  await expect(
    first.collect({ retention: { cleanupPeriodDays: 30, maxBytes: MAX }, now, dryRun: false }),
  ).rejects.toThrow("cut off");
  expect(await journal.row(proc(1))).toBeUndefined();
  await collect();
  expect(sql(dir, "SELECT count(*) AS n FROM records WHERE proc = ?", proc(1))).toEqual([{ n: 0 }]);
  expect((await tools.verify({})).broken).toBeNull();
});

test("a daemon that lost the journal to another removes nothing", async () => {
  await ended(1);
  now += 40 * DAY;
  const later = await openHere(dir);
  await expect(collect()).rejects.toMatchObject({ code: "UNAVAILABLE" });
  await later.close();
  expect(sql(dir, "SELECT count(*) AS n FROM records WHERE proc = ?", proc(1))).toEqual([{ n: 2 }]);
});

describe("JournalKeeper.clearOut()", () => {
  const keeperAt = () => {
    const clock = { ...systemClock, now: () => now };
    return new JournalKeeper({
      ...{ dir, journal, clock },
      retention: () => ({ cleanupPeriodDays: 30, maxBytes: MAX }),
      anchorFile: () => undefined,
      isHeld: () => false,
      log: () => {},
    });
  };

  test("lets nothing go by age before two daily checks agree on the date", async () => {
    const keeper = keeperAt();
    await ended(1);
    // a clock that jumped: the first check sees a date that nothing confirms
    now += 4_000 * DAY;
    await keeper.clearOut();
    expect(await journal.row(proc(1))).toBeDefined();
    now += HOUR;
    await keeper.clearOut();
    expect(await journal.row(proc(1))).toBeDefined();
    // and back: what the jump noted confirms nothing
    now -= 4_000 * DAY;
    await keeper.clearOut();
    expect(await journal.row(proc(1))).toBeDefined();
    now += 31 * DAY;
    await keeper.clearOut();
    expect(await journal.row(proc(1))).toBeDefined();
    now += DAY;
    await keeper.clearOut();
    expect(await journal.row(proc(1))).toBeUndefined();
    await keeper.close();
  });
});
