/** The journal with real processes, threads and disks: what is killed, hangs, fills up and fails. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import type { Worker } from "node:worker_threads";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { headOf } from "../journal/head.ts";
import { draft, PROC } from "../journal/testing/bench.ts";
import { nextState } from "../testing.ts";
import { openJournal } from "./open-journal.ts";
import { startWriter, ThreadedScribe } from "./threaded-scribe.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "crux-process-"));
});
afterEach(() => rmSync(dir, { recursive: true }));

const moduleUrl = (name: string): string => JSON.stringify(new URL(name, import.meta.url).href);
const PRELUDE = `
  import { writeSync } from "node:fs";
  import { openJournal } from ${moduleUrl("./open-journal.ts")};
  import { HandClock, nextState } from ${moduleUrl("../testing.ts")};
  const dir = process.argv[1];
  const proc = ${JSON.stringify(PROC)};
  const draft = (body, kind = "ctx.record") => ({ proc, pid: 9, kind, v: 1, body });
  const say = (told) => writeSync(1, JSON.stringify(told) + "\\n");
`;

/** Four at once, for ever: each says what it was told. */
const ENDLESS = `${PRELUDE}
  const journal = await openJournal({ dir });
  await Promise.all([1, 2, 3, 4].map(async (writer) => {
    for (let n = 0; ; n++) {
      journal.note([draft({ writer, note: n })]);
      say(await journal.append([draft({ writer, n }), draft({ writer, n, text: "x".repeat(n % 2000) })]));
    }
  }));
`;

function startChild(script: string, ...wrapper: readonly string[]) {
  const argv = [...wrapper, process.execPath, "--input-type=module", "-e", script, dir];
  const child = spawn(argv[0]!, argv.slice(1), { stdio: ["ignore", "pipe", "pipe"] });
  return { child, lines: createInterface({ input: child.stdout }) };
}

async function say(script: string, ...wrapper: readonly string[]): Promise<unknown[]> {
  const { child, lines } = startChild(script, ...wrapper);
  const errors: string[] = [];
  child.stderr.on("data", (chunk) => errors.push(String(chunk)));
  const told: unknown[] = [];
  for await (const line of lines) told.push(JSON.parse(line));
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  expect(child.exitCode, errors.join("")).toBe(0);
  return told;
}

test("what was acknowledged survives SIGKILL at any moment, and what survives is a prefix", async () => {
  for (const wanted of [1, 40, 400]) {
    const { child, lines } = startChild(ENDLESS);
    const exited = once(child, "exit");
    const acknowledged: { lsn: number; seq: number }[] = [];
    let count = 0;
    for await (const line of lines) {
      // the last line may be torn
      if (!line.endsWith("]")) break;
      acknowledged.push(...(JSON.parse(line) as { lsn: number; seq: number }[]));
      if (++count === wanted) child.kill("SIGKILL");
    }
    await exited;
    const db = new DatabaseSync(join(dir, "journal.db"));
    const lsns = db
      .prepare("SELECT lsn FROM records ORDER BY lsn")
      .all()
      .map(({ lsn }) => Number(lsn));
    db.close();
    expect(lsns).toEqual(lsns.map((_, n) => n + 1));
    const highest = Math.max(...acknowledged.map(({ lsn }) => lsn));
    expect(lsns.length).toBeGreaterThanOrEqual(highest);
    expect(headOf(dir)?.lsn).toBeGreaterThanOrEqual(highest);
    expect(headOf(dir)?.lsn).toBeLessThanOrEqual(lsns.length);
    // every hash holds, to the end
    const journal = await openJournal({ dir });
    let seq = 0;
    for (;;) {
      const page = await journal.read(PROC, seq + 1, 256);
      if (page.length === 0) break;
      seq = page.at(-1)!.seq;
    }
    expect(seq).toBe(lsns.length);
    await journal.close();
  }
});

test("1,000 appends at once take few syncs", async () => {
  let commits = 0;
  const journal = await openJournal({ dir }, (seed, onNotice) => {
    const scribe = new ThreadedScribe(startWriter(seed), onNotice);
    const commit = scribe.commit.bind(scribe);
    scribe.commit = (...args) => {
      commits += 1;
      return commit(...args);
    };
    return scribe;
  });
  await Promise.all(Array.from({ length: 1_000 }, (_, n) => journal.append([draft("signal", n)])));
  expect(commits).toBeLessThanOrEqual(100);
  await journal.close();
});

test("the event loop goes on while a commit is held up", async () => {
  const journal = await openJournal({ dir });
  await journal.append([draft("signal", 1)]);
  const other = new DatabaseSync(join(dir, "journal.db"));
  other.exec("BEGIN IMMEDIATE");
  let isDone = false;
  const held = journal.append([draft("signal", 2)]).then(() => {
    isDone = true;
  });
  for (let n = 0; n < 20; n++) await new Promise((resolve) => setTimeout(resolve, 1));
  expect(isDone).toBe(false);
  other.exec("ROLLBACK");
  await held;
  expect((await journal.read(PROC, 1, 9)).map(({ body }) => body)).toEqual([1, 2]);
  other.close();
  await journal.close();
});

describe("the thread that writes", () => {
  const openWith = async () => {
    let worker: Worker | undefined;
    const journal = await openJournal({ dir }, (seed, onNotice) => {
      worker = startWriter(seed);
      return new ThreadedScribe(worker, onNotice);
    });
    return { journal, worker: worker! };
  };

  test("its end is the end of acknowledgement: whoever waits hears of it", async () => {
    const { journal, worker } = await openWith();
    await journal.append([draft("signal", 1)]);
    const waiting = journal.append([draft("signal", 2)]);
    const lost = nextState(journal);
    void worker.terminate();
    await expect(waiting).rejects.toMatchObject({ code: "UNAVAILABLE", reason: "journal_writer_ended" });
    expect(await lost).toMatchObject({ state: "lost", reason: "journal_writer_ended" });
    await expect(journal.append([draft("signal", 3)])).rejects.toMatchObject({
      fact: { kind: "journal_lost" },
    });
    expect((await journal.read(PROC, 1, 9)).map(({ body }) => body)).toEqual([1]);
    await journal.close();
  });

  test("its end is told when nobody waits, too", async () => {
    const { journal, worker } = await openWith();
    await journal.append([draft("signal", 1)]);
    const lost = nextState(journal);
    void worker.terminate();
    expect(await lost).toMatchObject({ state: "lost" });
    await journal.close();
  });

  test("one that cannot start is lost, and nothing hangs", async () => {
    const journal = await openJournal({ dir }, (seed, onNotice) => {
      const nowhere = { ...seed, dir: join(dir, "nowhere") };
      return new ThreadedScribe(startWriter(nowhere), onNotice);
    });
    await expect(journal.append([draft("signal", 1)])).rejects.toMatchObject({
      reason: "journal_writer_ended",
    });
    await journal.close();
  });

  test("an open journal that has nothing to do keeps no process alive", async () => {
    expect(
      await say(`${PRELUDE} const j = await openJournal({ dir }); say(await j.append([draft(1)]));`),
    ).toEqual([[{ lsn: 1, seq: 1 }]]);
  });
});

/** Whether it can be used here, tried with a command of its own. */
function isUsable(...argv: readonly string[]): boolean {
  try {
    execFileSync(argv[0]!, argv.slice(1), { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

const strace = (inject: string) => ["strace", "-f", "-qq", "-o", "/dev/null", "-e", `inject=${inject}`, "--"];
const TRIES = `${PRELUDE}
  const journal = await openJournal({ dir });
  for (let n = 0; n < 6; n++)
    await journal.append([draft(n)]).then(([{ lsn }]) => say(lsn), ({ reason }) => say(reason));
  say(journal.state);
  await journal.close();
`;

describe.skipIf(!isUsable(...strace("fdatasync:error=EIO:when=1000"), "true"))(
  "below SQLite (needs strace)",
  () => {
    test("a sync that fails is never tried again: nothing is acknowledged after it", async () => {
      await say(
        `${PRELUDE} const j = await openJournal({ dir }); await j.append([draft("before")]); await j.close();`,
      );
      const told = await say(TRIES, ...strace("fsync,fdatasync:error=EIO:when=4"));
      const at = told.indexOf("journal_sync_failed");
      expect(at).toBeGreaterThan(-1);
      const acknowledged = told.slice(0, at) as number[];
      expect(told.slice(at, 6).every((each) => each === "journal_sync_failed")).toBe(true);
      expect(told[6]).toMatchObject({ state: "lost", reason: "journal_sync_failed" });
      const journal = await openJournal({ dir });
      const lsns = (await journal.read(PROC, 1, 256)).map(({ lsn }) => lsn);
      expect(lsns).toEqual(expect.arrayContaining(acknowledged));
      await journal.close();
    });

    test.each([
      ["EROFS", "journal_io"],
      ["EIO", "journal_io"],
      ["ENOSPC", "journal_full"],
    ])("%s of a write refuses the group; the next retry goes on", async (error, reason) => {
      const script = `${PRELUDE}
      const clock = new HandClock();
      const journal = await openJournal({ dir, clock });
      await journal.append([draft("first")]);
      const told = [];
      journal.onState(({ state }) => told.push(state));
      for (let n = 0; n < 40 && journal.state.state === "well"; n++)
        await journal.append([draft(n)]).then(([{ seq }]) => say(seq), ({ reason }) => say(reason));
      const well = nextState(journal);
      clock.advance(5_000);
      await well;
      say((await journal.append([draft("last")]))[0].seq);
      say(told);
      await journal.close();
    `;
      const told = await say(script, ...strace(`pwrite64:error=${error}:when=60`));
      expect(told.at(-1)).toEqual(["degraded", "well"]);
      const refusedAt = told.indexOf(reason);
      expect(told.slice(0, refusedAt)).toEqual(Array.from({ length: refusedAt }, (_, n) => n + 2));
      expect(told.at(-2)).toBe(refusedAt + 2);
    });
  },
);

const smallDisk = () => [
  "bwrap",
  "--dev-bind",
  "/",
  "/",
  "--size",
  String(48 * 1024 * 1024),
  "--tmpfs",
  dir,
  "--",
];

test.skipIf(!isUsable("bwrap", "--dev-bind", "/", "/", "--size", "1048576", "--tmpfs", "/mnt", "--", "true"))(
  "a disk that is full: intents are refused, results fit, and it goes on by itself once there is room",
  async () => {
    const told = await say(
      `${PRELUDE}
      import { rmSync, writeFileSync } from "node:fs";
      import { join } from "node:path";
      const clock = new HandClock();
      const notices = [];
      const journal = await openJournal({ dir: join(dir, "journal"), clock, onNotice: ({ event }) => notices.push(event) });
      const many = Array.from({ length: 300 }, () => "x".repeat(3000));
      const some = () => draft(many, "call.intent");
      await journal.append([draft("first")]);
      // the reserve, as it is made where there is room, and a neighbour that takes the rest
      writeFileSync(join(dir, "journal", "reserve"), Buffer.alloc(16 * 1024 * 1024));
      await journal.close();
      const again = await openJournal({ dir: join(dir, "journal"), clock, onNotice: ({ event }) => notices.push(event) });
      const ballast = [];
      try {
        for (let n = 0; ; n++) {
          writeFileSync(join(dir, "ballast" + n), Buffer.alloc(256 * 1024));
          ballast.push(n);
        }
      } catch {}
      let acknowledged = 0;
      for (let n = 0; n < 100; n++) {
        again.note([draft({ result: n })]);
        try {
          await again.append([some()]);
          acknowledged++;
        } catch (error) {
          say(error.reason);
          break;
        }
      }
      again.note([draft({ result: "of what had begun" })]);
      const before = (await again.read(proc, 1, 256)).map(({ body }) => body.result ?? null);
      say(before.includes("of what had begun"));
      say(again.state);
      const retried = Promise.withResolvers();
      clock.onSleep = (ms) => { if (ms === 5_000) retried.resolve(); };
      clock.advance(5_000);
      await retried.promise;
      say(again.state.state);
      for (const n of ballast) rmSync(join(dir, "ballast" + n));
      const well = nextState(again);
      clock.advance(5_000);
      await well;
      say(again.state.state);
      await again.append([some()]);
      let intents = 0;
      for (let seq = 1, page; (page = await again.read(proc, seq, 256)).length > 0; seq += page.length)
        intents += page.filter(({ kind }) => kind === "call.intent").length;
      say(intents - acknowledged);
      say(notices.filter((event) => event !== "journal.low_space"));
      await again.close();
      `,
      ...smallDisk(),
    );
    expect(told).toEqual([
      "journal_full",
      true,
      {
        state: "degraded",
        reason: "journal_full",
        path: join(dir, "journal", "journal.db"),
        freeBytes: expect.any(Number),
        needBytes: 32 * 1024 * 1024,
      },
      "degraded",
      "well",
      1,
      [],
    ]);
  },
);
