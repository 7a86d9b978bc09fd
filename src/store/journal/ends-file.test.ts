import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { asPid, asProcUuid } from "../../abi/ids.ts";
import type { KeptEnd } from "../../kernel/ports/ends.ts";
import type { Journal } from "../../kernel/ports/journal.ts";
import { EndsFile } from "./ends-file.ts";
import { openMemoryJournal } from "./testing/memory.ts";

let dir: string;
let path: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "crux-ends-"));
  path = join(dir, "ends");
});
afterEach(() => rmSync(dir, { recursive: true }));

const NOW = Date.now() + 1_000_000;
const proc = asProcUuid("p1");
const exit = (
  body: object = { code: 143, reason: "killed: SIGTERM", kind: "killed", result: "" },
): KeptEnd => ({
  proc,
  pid: asPid(1),
  kind: "process.exited",
  body,
});
const open = (epoch = 1, now = NOW) => new EndsFile(path, { now: () => now, epoch });

async function withOne(): Promise<Journal> {
  const journal = openMemoryJournal();
  await journal.append([{ proc, pid: asPid(1), kind: "process.spawned", v: 1, body: { kind: "agent" } }]);
  return journal;
}

test("keep() writes into blocks that are there, and the next daemon puts it into the journal, once", async () => {
  const ends = open();
  ends.prepare();
  const { size, blocks } = statSync(path);
  expect(blocks * 512).toBeGreaterThanOrEqual(size);
  expect(ends.keep(exit())).toBe(true);
  expect(statSync(path).size).toBe(size);
  const next = open();
  next.prepare();
  expect(next.exitOf(proc)).toEqual({ code: 143, reason: "killed: SIGTERM" });
  const journal = await withOne();
  expect(await next.fold(journal)).toBe(1);
  expect((await journal.row(proc))?.exit).toEqual({ code: 143, reason: "killed: SIGTERM" });
  expect([next.exitOf(proc), await next.fold(journal), open().exitOf(proc)]).toEqual([
    undefined,
    0,
    undefined,
  ]);
});

test("fold() adds what was kept while the wall clock had been set back, but nothing that a later daemon has gone beyond", async () => {
  const longAgo = 1_000_000;
  const keep = () => {
    const ends = open(1, longAgo);
    ends.prepare();
    expect(ends.keep(exit())).toBe(true);
  };
  keep();
  const journal = await withOne();
  expect(await open(2).fold(journal)).toBe(1);
  expect((await journal.row(proc))?.exit).toEqual({ code: 143, reason: "killed: SIGTERM" });
  keep();
  const later = await withOne();
  const beyond = { row: later.row.bind(later), append: later.append.bind(later) };
  const readAt = async () => (await later.readAt(proc, [1])).map((record) => ({ ...record, epoch: 2 }));
  expect(await open(3).fold({ ...beyond, readAt })).toBe(0);
});

test("fold() adds nothing to what the journal has learned by itself", async () => {
  const ends = open();
  ends.prepare();
  ends.keep(exit());
  const journal = await withOne();
  await journal.append([{ ...exit({ code: 1, reason: "own" }), v: 1 }]);
  expect(await ends.fold(journal)).toBe(0);
  expect((await journal.row(proc))?.exit).toEqual({ code: 1, reason: "own" });
});

test("keep() says what it cannot keep: without blocks, too large, or beyond its bound", () => {
  const ends = open();
  expect(ends.keep(exit())).toBe(false);
  ends.prepare();
  expect(ends.keep(exit({ reason: "x".repeat(2_000) }))).toBe(false);
  let kept = 0;
  while (ends.keep(exit())) kept++;
  expect(kept).toBe(256);
});

test("a slot that is torn was never acknowledged, and ends the list", () => {
  const ends = open();
  ends.prepare();
  ends.keep(exit());
  ends.keep({ ...exit(), proc: asProcUuid("p2") });
  const bytes = readFileSync(path);
  bytes[1_024 + 40] = 0x21;
  writeFileSync(path, bytes);
  expect([open().exitOf(proc) !== undefined, open().exitOf(asProcUuid("p2"))]).toEqual([true, undefined]);
});
