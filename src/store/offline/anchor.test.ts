import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Journal } from "../../kernel/ports/journal.ts";
import { HandClock } from "../testing.ts";
import { anchorsOf, draft, offline, openHere, spawned, sql } from "./testing.ts";

let dir: string;
let journal: Journal;
let clock: HandClock;
const logged: string[] = [];

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "crux-tools-"));
  clock = new HandClock();
  journal = await openHere(dir);
  logged.length = 0;
});
afterEach(async () => {
  await journal.close();
  rmSync(dir, { recursive: true });
});

const start = (file?: string) => {
  const log = (_level: string, message: string) => void logged.push(message);
  const anchors = anchorsOf(join(dir, "journal.db"), journal, { clock, file: () => file, log });
  anchors.start();
  return anchors;
};
const anchored = () =>
  sql(
    dir,
    "SELECT json_extract(body, '$.lsn') AS lsn FROM records WHERE kind = 'journal.anchor' ORDER BY lsn",
  ).map(({ lsn }) => lsn);
/** So many checks for new records, one a second, each with the anchor that it makes. */
const look = async (seconds: number) => {
  for (let n = 0; n < seconds; n++) await clock.round(1_000);
};

test("an anchor comes a minute after any record, and none without one", async () => {
  const anchors = start();
  await journal.append([spawned(1)]);
  await look(59);
  expect(anchored()).toEqual([]);
  await look(2);
  expect(anchored()).toEqual([1]);
  await look(200);
  expect(anchored()).toEqual([1]);
  await anchors.close();
  expect(anchored()).toEqual([1]);
});

test("an anchor comes with 1,000 records, and at the end", async () => {
  const anchors = start();
  await journal.append(Array.from({ length: 1_000 }, (_, n) => draft(1, "process.log", { n })));
  await look(2);
  expect(anchored()).toEqual([1_000]);
  await journal.append([draft(1, "process.log", {})]);
  await anchors.close();
  expect(anchored()).toEqual([1_000, 1_002]);
  expect(await offline(dir).verify({})).toMatchObject({ anchors: 2, broken: null });
});

test("an anchor of many processes is made in pieces, and is that of all of them", async () => {
  const anchors = anchorsOf(join(dir, "journal.db"), journal);
  await journal.append(Array.from({ length: 300 }, (_, n) => spawned(n + 1)));
  let rounds = 0;
  let next = setImmediate(function turn() {
    rounds++;
    next = setImmediate(turn);
  });
  await anchors.close();
  clearImmediate(next);
  expect(rounds).toBeGreaterThan(4);
  expect(await offline(dir).verify({})).toMatchObject({ anchors: 1, broken: null });
});

test("the roots of several daemons are one chain", async () => {
  for (let n = 1; n <= 3; n++) {
    await journal.append([spawned(n)]);
    await start().close();
    await journal.close();
    journal = await openHere(dir);
  }
  expect(await offline(dir).verify({})).toMatchObject({ anchors: 3, broken: null });
});

test("each root is a line of the file of audit.anchor, which verify takes", async () => {
  const file = join(dir, "kept.ndjson");
  const anchors = start(file);
  await journal.append([spawned(1)]);
  await look(61);
  await journal.append([spawned(2)]);
  await anchors.close();
  const against = readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(against).toMatchObject([{ lsn: 1, previous: "" }, { lsn: 3 }]);
  expect((await offline(dir).verify({ against })).broken).toBeNull();
});

test("a file that cannot be written is told once, and the roots stay in the journal", async () => {
  const file = join(dir, "no-folder", "kept.ndjson");
  const anchors = start(file);
  for (let n = 1; n <= 3; n++) {
    await journal.append([spawned(n)]);
    await look(61);
  }
  await anchors.close();
  expect(existsSync(file)).toBe(false);
  expect(anchored()).toHaveLength(3);
  expect(logged).toEqual([
    expect.stringMatching(/^settings: audit\.anchor: ENOENT.*roots are kept in the journal alone$/),
  ]);
});
