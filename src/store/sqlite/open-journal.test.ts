import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { asCallId, asPid } from "../../abi/ids.ts";
import { toJournalFault } from "../fault.ts";
import { journalContract } from "../journal/contract.ts";
import { draft, PROC } from "../journal/testing/bench.ts";
import { DirectScribe } from "../journal/testing/direct-scribe.ts";
import { HandClock, nextState } from "../testing.ts";
import { openClerk } from "./open-database.ts";
import { type MakeScribe, openJournal } from "./open-journal.ts";

/** A body of about so many bytes that is not kept apart. */
const manySmall = (bytes: number) => Array.from({ length: bytes / 100 }, () => "x".repeat(97));
const newDir = () => mkdtempSync(join(tmpdir(), "crux-journal-"));

const inThisThread: MakeScribe = ({ dir, identity, maxBytes }, onNotice) =>
  new DirectScribe(openClerk(dir, identity, { maxBytes, onNotice, mono: () => performance.now() }));

journalContract("sqlite in a thread of its own", () => {
  const dir = newDir();
  return {
    open: () => openJournal({ dir }),
    remove: async () => rmSync(dir, { recursive: true }),
  };
});

journalContract("sqlite in this thread", () => {
  const dir = newDir();
  return {
    open: () => openJournal({ dir }, inThisThread),
    remove: async () => rmSync(dir, { recursive: true }),
  };
});

describe("openJournal()", () => {
  let dir: string;
  beforeEach(() => {
    dir = newDir();
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  test("acknowledgedLsn is what the head of the former daemons says: behind it lies what was told to nobody", async () => {
    const lsns = async () => {
      const journal = await openJournal({ dir }, inThisThread);
      const { acknowledgedLsn } = journal;
      const [place] = await journal.append([draft("ctx.record", {})]);
      await journal.close();
      return { acknowledgedLsn, last: place?.lsn };
    };
    const first = await lsns();
    expect(first.acknowledgedLsn).toBe(Number.POSITIVE_INFINITY);
    const head = readFileSync(join(dir, "head"));
    const second = await lsns();
    expect(second.acknowledgedLsn).toBe(first.last);
    // it died between its commit and the head
    writeFileSync(join(dir, "head"), head);
    const third = await lsns();
    expect([third.acknowledgedLsn, second.last]).toEqual([first.last, Number(first.last) + 1]);
    expect((await lsns()).acknowledgedLsn).toBe(third.last);
  });

  test("append() that resolved survives SIGKILL of its process, what was open is found open", async () => {
    const child = spawn(process.execPath, ["--input-type=module", "-e", KILLED_WRITER, dir], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const exited = once(child, "exit");
    // it never ends by itself: the journal is open when the signal comes
    const [said] = (await once(child.stdout, "data")) as [Buffer];
    child.kill("SIGKILL");
    await exited;
    expect(said.toString()).toBe("acknowledged\n");

    const journal = await openJournal({ dir });
    const records = await journal.read(PROC, 1, 256);
    expect(records.map((record) => record.seq)).toEqual(Array.from({ length: 40 }, (_, n) => n + 1));
    expect((await journal.openCalls()).map((record) => record.call)).toEqual([asCallId("c_1")]);
    expect((await journal.unfinished()).map((record) => record.pid)).toEqual([asPid(9)]);
    expect(journal.highestPid()).toBe(9);
    expect(journal.epoch).toBe(2);
    await journal.close();
  });

  test("directory is 0700, files are 0600", async () => {
    const nested = join(dir, "a", "journal");
    const journal = await openJournal({ dir: nested });
    await journal.append([draft("signal", 1)]);
    expect(statSync(nested).mode & 0o777).toBe(0o700);
    for (const name of ["journal.db", "journal.db-wal"])
      expect(statSync(join(nested, name)).mode & 0o777, name).toBe(0o600);
    await journal.close();
  });

  test("a full journal refuses the batch whole, is degraded, and goes on by itself where it can", async () => {
    const clock = new HandClock();
    const journal = await openJournal({ dir, maxBytes: 512 * 1024, clock });
    await journal.append([draft("signal", "first")]);
    const large = [draft("signal", "second"), draft("signal", manySmall(1_000_000))];
    const full = { code: "UNAVAILABLE", reason: "journal_full" };
    await expect(journal.append(large)).rejects.toMatchObject(full);
    await expect(journal.append([draft("signal", "too soon")])).rejects.toMatchObject(full);
    expect(journal.state).toMatchObject({
      state: "degraded",
      reason: "journal_full",
      path: join(dir, "journal.db"),
      freeBytes: expect.any(Number),
      needBytes: expect.any(Number),
    });
    journal.note([draft("signal", "noted")]);
    const well = nextState(journal);
    clock.advance(5_000);
    expect(await well).toEqual({ state: "well" });
    const [place] = await journal.append([draft("signal", "third")]);
    expect(place).toEqual({ lsn: 3, seq: 3 });
    expect((await journal.read(PROC, 1, 9)).map((record) => record.body)).toEqual([
      "first",
      "noted",
      "third",
    ]);
    await journal.close();
  });

  test.each(["removed", "moved", "replaced"])("nothing is acknowledged once its file was %s", async (how) => {
    const nested = join(dir, "journal");
    const journal = await openJournal({ dir: nested });
    await journal.append([draft("signal", "kept")]);
    if (how === "removed") rmSync(nested, { recursive: true });
    else renameSync(nested, join(dir, "elsewhere"));
    if (how === "replaced") await (await openJournal({ dir: nested })).close();
    const removed = { code: "UNAVAILABLE", reason: "journal_removed", fact: { kind: "journal_lost" } };
    await expect(journal.append([draft("signal", "lost")])).rejects.toMatchObject(removed);
    await expect(journal.append([draft("signal", "later")])).rejects.toMatchObject(removed);
    expect(journal.state).toMatchObject({ state: "lost", reason: "journal_removed" });
    await journal.close();
  });

  test("a file that is no journal is refused by its name, and left as it is", async () => {
    const path = join(dir, "journal.db");
    writeFileSync(path, "no journal\n".repeat(500));
    await expect(openJournal({ dir })).rejects.toMatchObject({
      reason: "journal_damaged",
      message: `journal_damaged: ${path}: file is not a database`,
    });
    expect(readFileSync(path, "utf8")).toBe("no journal\n".repeat(500));
  });

  test("a former daemon writes nothing once a later one has opened", async () => {
    const former = await openJournal({ dir });
    await former.append([draft("signal", "before")]);
    const owner = await openJournal({ dir });
    await expect(former.append([draft("signal", "late")])).rejects.toMatchObject({
      reason: "journal_fenced",
    });
    expect(former.state).toMatchObject({ state: "lost", reason: "journal_fenced" });
    expect((await owner.read(PROC, 1, 9)).map((record) => record.body)).toEqual(["before"]);
    await former.close();
    await owner.close();
  });

  test("a journal of a newer version is UNAVAILABLE and stays as it is", async () => {
    await (await openJournal({ dir })).close();
    const db = new DatabaseSync(join(dir, "journal.db"));
    db.exec("UPDATE meta SET value = 3 WHERE key = 'schema'");
    await expect(openJournal({ dir })).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringContaining("newer crux (schema 3"),
    });
    expect(db.prepare("SELECT value FROM meta WHERE key = 'epoch'").get()?.value).toBe(1);
    db.close();
  });

  test("a file that is no database is UNAVAILABLE, as damage", async () => {
    writeFileSync(join(dir, "journal.db"), "x".repeat(8192));
    await expect(openJournal({ dir })).rejects.toMatchObject({
      code: "UNAVAILABLE",
      reason: "journal_damaged",
    });
  });

  test.each([
    ["emptied", (path: string) => writeFileSync(path, "")],
    ["removed", (path: string) => rmSync(path)],
  ])("a journal that was %s is not begun anew, since records were acknowledged", async (_, lose) => {
    const journal = await openJournal({ dir }, inThisThread);
    await journal.append([draft("ctx.record", {})]);
    await journal.close();
    lose(join(dir, "journal.db"));
    await expect(openJournal({ dir })).rejects.toMatchObject({
      code: "UNAVAILABLE",
      reason: "journal_damaged",
      message: expect.stringContaining("1 record had been acknowledged"),
    });
    rmSync(join(dir, "head"));
    await (await openJournal({ dir })).close();
  });

  test("a directory that cannot be made is UNAVAILABLE", async () => {
    writeFileSync(join(dir, "file"), "");
    await expect(openJournal({ dir: join(dir, "file", "journal") })).rejects.toMatchObject({
      code: "UNAVAILABLE",
      reason: "journal_readonly",
    });
  });
});

describe("toJournalFault()", () => {
  const sqliteError = (errcode: number) => Object.assign(new Error("disk"), { errcode });

  test("only a failed sync, damage and fencing are lost", () => {
    expect(toJournalFault(sqliteError(13))).toMatchObject({ reason: "journal_full", isLost: false });
    expect(toJournalFault(sqliteError(8))).toMatchObject({ reason: "journal_readonly", isLost: false });
    expect(toJournalFault(sqliteError(778))).toMatchObject({ reason: "journal_io", isLost: false });
    expect(toJournalFault(sqliteError(1034))).toMatchObject({ reason: "journal_sync_failed", isLost: true });
    expect(toJournalFault(sqliteError(11))).toMatchObject({ reason: "journal_damaged", isLost: true });
    expect(toJournalFault(new TypeError("bug"))).toMatchObject({ reason: "journal_damaged", isLost: true });
  });
});

/** Appends in groups, says so, then waits for its death with the journal open. */
const KILLED_WRITER = `
  import { openJournal } from ${JSON.stringify(new URL("./open-journal.ts", import.meta.url).href)};
  const journal = await openJournal({ dir: process.argv[1] });
  const draft = (kind, more) => ({ proc: ${JSON.stringify(PROC)}, pid: 9, kind, v: 1, body: null, ...more });
  await journal.append([draft("process.spawned"), draft("call.intent", { call: "c_1" })]);
  for (let n = 0; n < 19; n++) {
    journal.note([draft("ctx.record")]);
    await journal.append([draft("signal")]);
  }
  process.stdout.write("acknowledged\\n");
  setInterval(() => {}, 60_000);
`;
