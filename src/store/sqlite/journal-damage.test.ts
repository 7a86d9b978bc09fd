import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { asPid, asProcUuid } from "../../abi/ids.ts";
import type { JournalDraft } from "../../kernel/ports/journal.ts";
import { chainHash, genesis } from "../journal/chain.ts";
import { headOf } from "../journal/head.ts";
import type { JournalNotice } from "../journal/notice.ts";
import { toStored } from "../journal/stored.ts";
import { draft, PROC } from "../journal/testing/bench.ts";
import { openJournal } from "./open-journal.ts";

const FORK = asProcUuid("33333333-3333-4333-8333-333333333333");
const SPAWNED = draft("process.spawned", { kind: "agent", intent: "work" });

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "crux-damage-"));
});
afterEach(() => rmSync(dir, { recursive: true }));

/** A journal that is closed again. */
async function write(...drafts: readonly JournalDraft[]): Promise<void> {
  const journal = await openJournal({ dir });
  for (const each of drafts) await journal.append([each]);
  await journal.close();
}

/** What somebody with the user's rights may do to it. */
function tamper(sql: string, ...values: (string | number)[]): void {
  const db = new DatabaseSync(join(dir, "journal.db"));
  db.prepare(sql).run(...values);
  db.close();
}

const words = (count: number) => Array.from({ length: count }, (_, n) => draft("ctx.record", { n }));

describe("read()", () => {
  test.each([
    ["UPDATE records SET body = '{\"n\":9}' WHERE seq = 4", 4],
    ["UPDATE records SET at = at + 1 WHERE seq = 4", 4],
    ["UPDATE records SET hash = zeroblob(32) WHERE seq = 4", 4],
    ["UPDATE records SET hash = NULL WHERE seq = 4", 4],
    ["DELETE FROM records WHERE seq = 4", 4],
    ["DELETE FROM records WHERE seq >= 6", 6],
    ["UPDATE records SET seq = seq + 10 WHERE seq = 6", 6],
    ["DELETE FROM records WHERE seq = 1", 1],
  ])("tells the first record that cannot be trusted: %s", async (sql, damagedAt) => {
    await write(SPAWNED, ...words(5));
    tamper(sql);
    const journal = await openJournal({ dir });
    const before = damagedAt === 1 ? [] : (await journal.read(PROC, 1, 256)).map(({ seq }) => seq);
    expect(before).toEqual(Array.from({ length: damagedAt - 1 }, (_, n) => n + 1));
    const told = {
      code: "INTERNAL",
      seq: damagedAt,
      message: expect.stringContaining(`record ${damagedAt} `),
    };
    await expect(journal.read(PROC, damagedAt, 256)).rejects.toMatchObject(told);
    expect((await journal.row(PROC))?.damagedAt).toBe(damagedAt);
    // others go on, and it stays known
    await journal.append([draft("signal", 1, { proc: FORK, pid: asPid(2) })]);
    await journal.close();
    const next = await openJournal({ dir });
    expect((await next.row(PROC))?.damagedAt).toBe(damagedAt);
    await next.close();
  });

  test("a page that begins in the middle is held against the record before it", async () => {
    await write(SPAWNED, ...words(5));
    tamper("UPDATE records SET body = '{\"n\":9}' WHERE seq = 4");
    const journal = await openJournal({ dir });
    expect((await journal.read(PROC, 2, 2)).map(({ seq }) => seq)).toEqual([2, 3]);
    await expect(journal.read(PROC, 4, 1)).rejects.toMatchObject({ seq: 4 });
    expect((await journal.read(PROC, 5, 9)).map(({ seq }) => seq)).toEqual([5, 6]);
    await journal.close();
  });

  test.each([
    ["UPDATE records SET body = '{\"n\":9}' WHERE seq = 4", 4],
    ["UPDATE records SET hash = zeroblob(32) WHERE seq = 4", 4],
    ["UPDATE records SET hash = NULL WHERE seq = 3", 3],
    ["DELETE FROM records WHERE seq = 4", 4],
    ["DELETE FROM records WHERE seq = 3", 3],
    ["DELETE FROM records WHERE seq >= 4", 4],
  ])("readAt() gives what it can and then tells what cannot be trusted: %s", async (sql, damagedAt) => {
    await write(SPAWNED, ...words(5));
    tamper(sql);
    const journal = await openJournal({ dir });
    expect((await journal.readAt(PROC, [1, 2, 4, 6])).map(({ seq }) => seq)).toEqual([1, 2]);
    await expect(journal.readAt(PROC, [4, 6])).rejects.toMatchObject({ code: "INTERNAL", seq: damagedAt });
    expect((await journal.row(PROC))?.damagedAt).toBe(damagedAt);
    await journal.close();
  });

  test("readAt() of the first record of a fork holds it against its parent's", async () => {
    const fork = { proc: FORK, pid: asPid(2) };
    await write(SPAWNED, ...words(5), draft("process.forked", { from: PROC, at: 3 }, fork));
    const journal = await openJournal({ dir });
    expect((await journal.readAt(FORK, [1])).map(({ seq }) => seq)).toEqual([1]);
    await journal.close();
    tamper("UPDATE records SET at = at + 1 WHERE proc = ?", FORK);
    const next = await openJournal({ dir });
    await expect(next.readAt(FORK, [1])).rejects.toMatchObject({ code: "INTERNAL", seq: 1 });
    await next.close();
  });

  test("a fork's chain goes on from its parent's record", async () => {
    const fork = { proc: FORK, pid: asPid(2) };
    const forked = draft("process.forked", { from: PROC, at: 3 }, fork);
    await write(SPAWNED, ...words(5), forked, { ...SPAWNED, ...fork });
    const db = new DatabaseSync(join(dir, "journal.db"));
    const rows = db.prepare("SELECT * FROM records ORDER BY lsn").all();
    const kernelId = String(db.prepare("SELECT value FROM meta WHERE key = 'kernel_id'").get()?.value);
    db.close();
    let previous: Uint8Array = genesis(kernelId, PROC);
    for (const row of rows.slice(0, 6)) {
      expect(row.hash).toEqual(new Uint8Array(chainHash(previous, toStored(row))));
      previous = row.hash as Uint8Array;
    }
    const parent = rows[2]!.hash as Uint8Array;
    expect(rows[6]!.hash).toEqual(new Uint8Array(chainHash(parent, toStored(rows[6]!))));
    const journal = await openJournal({ dir });
    expect(await journal.read(FORK, 1, 9)).toHaveLength(2);
    await journal.close();
  });

  test("a large value that is missing damages its record, and no other", async () => {
    await write(SPAWNED, draft("ctx.record", "x".repeat(100_000)), ...words(1));
    rmSync(join(dir, "blobs"), { recursive: true });
    const journal = await openJournal({ dir });
    expect((await journal.read(PROC, 1, 9)).map(({ seq }) => seq)).toEqual([1]);
    await expect(journal.read(PROC, 2, 9)).rejects.toMatchObject({ code: "INTERNAL", seq: 2 });
    expect((await journal.row(PROC))?.damagedAt).toBe(2);
    await journal.close();
  });
});

test("snapshot() passes over one that is not what was saved", async () => {
  const journal = await openJournal({ dir });
  await journal.append([SPAWNED, ...words(5)]);
  await journal.saveSnapshot(PROC, 3, { n: 3 });
  await journal.saveSnapshot(PROC, 5, { n: 5 });
  tamper("UPDATE snapshots SET state = '{\"n\":6}' WHERE seq = 5");
  expect(await journal.snapshot(PROC)).toEqual({ seq: 3, state: { n: 3 } });
  await journal.close();
});

test("openJournal() tells acknowledged records that are missing, when one bit of the write-ahead log is flipped", async () => {
  const live = join(dir, "live");
  const copy = join(dir, "copy");
  const writer = await openJournal({ dir: live });
  await writer.append([SPAWNED]);
  const sizeBefore = statSync(join(live, "journal.db-wal")).size;
  for (const each of words(10)) await writer.append([each]);
  expect(headOf(live)?.lsn).toBe(11);
  cpSync(live, copy, { recursive: true });
  await writer.close();

  const log = join(copy, "journal.db-wal");
  const bytes = readFileSync(log);
  const at = sizeBefore + Math.floor((bytes.length - sizeBefore) / 2);
  bytes[at] = bytes[at]! ^ 1;
  writeFileSync(log, bytes);
  const notices: JournalNotice[] = [];
  const journal = await openJournal({ dir: copy, onNotice: (notice) => notices.push(notice) });
  const kept = await journal.read(PROC, 1, 256);
  expect(kept.length).toBeGreaterThan(0);
  expect(kept.length).toBeLessThan(11);
  expect(notices.map(({ event }) => event)).toEqual(["journal.missing_acknowledged"]);
  expect(notices[0]?.message).toContain(`records ${kept.length + 1} to 11 were acknowledged and are missing`);
  // what was acknowledged keeps its number: the gap stays visible
  const [place] = await journal.append([draft("ctx.record", "after")]);
  expect(place).toEqual({ lsn: 12, seq: kept.length + 1 });
  await journal.close();
  const later: JournalNotice[] = [];
  await (await openJournal({ dir: copy, onNotice: (notice) => later.push(notice) })).close();
  expect(later).toEqual([]);
});

test("openJournal() of a log with a torn end drops what was never acknowledged, and says nothing", async () => {
  const live = join(dir, "live");
  const copy = join(dir, "copy");
  const writer = await openJournal({ dir: live });
  await writer.append([SPAWNED]);
  cpSync(live, copy, { recursive: true });
  await writer.append(words(1));
  const torn = readFileSync(join(live, "journal.db-wal"));
  await writer.close();
  writeFileSync(join(copy, "journal.db-wal"), torn.subarray(0, torn.length - 100));
  const notices: JournalNotice[] = [];
  const journal = await openJournal({ dir: copy, onNotice: (notice) => notices.push(notice) });
  expect(await journal.read(PROC, 1, 9)).toHaveLength(1);
  expect(notices).toEqual([]);
  await journal.close();
});

describe("a journal of version 1", () => {
  const MAIL = { seq: 8, data: "" };
  beforeEach(() => {
    const db = new DatabaseSync(join(dir, "journal.db"));
    db.exec(VERSION_1);
    const insert = db.prepare("INSERT INTO records VALUES (?,?,?,?,?,?,?,?,?,?,?)");
    const put = (lsn: number, seq: number, kind: string, body: unknown, call: string | null = null) =>
      insert.run(lsn, PROC, 5, seq, 1, kind, 1, call, 1_000 + lsn, lsn / 2, JSON.stringify(body));
    put(1, 1, "process.spawned", { ppid: 0, kind: "agent", agent: "old", intent: "do", cwd: "/w" });
    put(2, 2, "ctx.record", { role: "user", content: "hi", $blob: "mine" });
    put(3, 3, "call.intent", { tool: "bash" }, "c_1");
    put(4, 4, "mail.put", MAIL);
    put(5, 5, "signal", { paused: true, ranMs: 7 });
    db.prepare("INSERT INTO open_calls VALUES (?,?,?)").run(PROC, "c_1", 3);
    db.prepare("INSERT INTO live VALUES (?,?,?)").run(PROC, 5, 1);
    db.close();
  });

  test("opens with every record, hashed, and with what is known of its processes; a copy lies beside", async () => {
    const journal = await openJournal({ dir });
    expect(journal.kernelId).toBe("an-old-kernel");
    expect(journal.epoch).toBe(4);
    const records = await journal.read(PROC, 1, 256);
    expect(records.map(({ kind }) => kind)).toEqual([
      "process.spawned",
      "ctx.record",
      "call.intent",
      "mail.put",
      "signal",
    ]);
    expect(records[1]?.body).toEqual({ role: "user", content: "hi", $blob: "mine" });
    expect((await journal.openCalls()).map(({ call }) => call)).toEqual(["c_1"]);
    expect((await journal.unfinished()).map(({ pid }) => pid)).toEqual([5]);
    expect((await journal.liveMail()).map(({ body }) => body)).toEqual([MAIL]);
    const known = {
      name: "old",
      intent: "do",
      turns: 2,
      isPaused: true,
      ranMs: 7,
      lastSeq: 5,
      createdAt: 1_001,
    };
    expect(await journal.row(PROC)).toMatchObject(known);
    expect([journal.highestPid(), journal.highestMessage()]).toEqual([5, 8]);
    expect(await journal.append([draft("signal", 1)], { expect: 5 })).toEqual([{ lsn: 6, seq: 6 }]);
    expect(await journal.read(PROC, 1, 256)).toHaveLength(6);
    await journal.close();

    const backup = join(dir, "journal.db.v1.bak");
    expect(statSync(backup).mode & 0o777).toBe(0o600);
    const old = new DatabaseSync(backup, { readOnly: true });
    expect(old.prepare("SELECT count(*) AS n FROM records").get()?.n).toBe(5);
    expect(old.prepare("SELECT value FROM meta WHERE key = 'schema'").get()?.value).toBe(1);
    old.close();
    expect(readdirSync(dir).filter((name) => name.endsWith(".part"))).toEqual([]);
  });

  test("stays as it is when it cannot be brought up whole", async () => {
    tamper("UPDATE records SET body = 'no JSON' WHERE lsn = 4");
    await expect(openJournal({ dir })).rejects.toMatchObject({ code: "UNAVAILABLE" });
    const db = new DatabaseSync(join(dir, "journal.db"));
    expect(db.prepare("SELECT value FROM meta WHERE key = 'schema'").get()?.value).toBe(1);
    expect(db.prepare("SELECT count(*) AS n FROM live").get()?.n).toBe(1);
    db.close();
  });
});

/** As the first releases made it. */
const VERSION_1 = `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE records (
    lsn INTEGER PRIMARY KEY, proc TEXT NOT NULL, pid INTEGER NOT NULL, seq INTEGER NOT NULL, epoch INTEGER NOT NULL,
    kind TEXT NOT NULL, v INTEGER NOT NULL, call TEXT, at REAL NOT NULL, mono REAL NOT NULL, body TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX history ON records (proc, seq);
  CREATE TABLE open_calls (
    proc TEXT NOT NULL, call TEXT NOT NULL, lsn INTEGER NOT NULL, PRIMARY KEY (proc, call)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE live (proc TEXT PRIMARY KEY, pid INTEGER NOT NULL, lsn INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE INDEX spawned ON records (pid) WHERE kind = 'process.spawned';
  CREATE INDEX signals ON records (proc, seq) WHERE kind = 'signal';
  INSERT INTO meta VALUES ('schema', 1), ('kernel_id', 'an-old-kernel'), ('epoch', 3), ('highest_pid', 5),
    ('highest_message', 8);
`;
