/** A disk that takes nothing for a while: what waits, what goes on, what is told, and that nothing is lost or done twice. */
import { beforeEach, describe, expect, test } from "vitest";
import { EXIT } from "../abi/process.ts";
import type { JournalState, RecordKind } from "./ports/journal.ts";
import { type GuardedBench, guardedBench } from "./testing/guarded.ts";
import { bytes, NOTHING_LEFT, type TestKernel, testKernel } from "./testing/test-kernel.ts";
import { settle } from "./testing/virtual-clock.ts";

const FULL: JournalState = {
  state: "degraded",
  reason: "journal_full",
  path: "/state/journal/journal.db",
  freeBytes: 3 * 1024 * 1024,
  needBytes: 16 * 1024 * 1024,
};
const WORDS =
  "journal_full: no space for the journal at /state/journal/journal.db (3 MiB free, 16 MiB needed)";
const KINDS: readonly RecordKind[] = [
  "process.spawned",
  "process.failed",
  "process.exited",
  "call.intent",
  "mail.put",
  "grant.add",
];

function fill({ journal }: TestKernel): void {
  for (const kind of KINDS) journal.refused.add(kind);
  journal.state = FULL;
}

function free({ journal }: TestKernel): void {
  journal.refused.clear();
  journal.state = { state: "well" };
}

/** Whether it has settled so far, and how. */
function watched(call: Promise<unknown>): { outcome: unknown } {
  const state: { outcome: unknown } = { outcome: "waits" };
  call.then(
    () => {
      state.outcome = "done";
    },
    (error: unknown) => {
      state.outcome = error;
    },
  );
  return state;
}

let bench: GuardedBench;
let t: TestKernel;
beforeEach(async () => {
  bench = await guardedBench({ timeoutMs: 90_000 });
  t = bench.t;
});
const said = (): string[] => bench.proc.logs?.kept.map(({ message }) => message) ?? [];
const activity = async (): Promise<unknown> =>
  (await t.init.listProcs()).find(({ pid }) => pid === bench.pid)?.activity;

describe("an effect while the journal is degraded", () => {
  test("a disk that has room, and refuses for another reason, is not said to lack it", async () => {
    fill(t);
    t.journal.state = { ...FULL, reason: "journal_io", freeBytes: 64 * 1024 * 1024 };
    const call = watched(bench.call());
    await t.clock.advance(1_000);
    const [line = ""] = said();
    expect(line).toContain("journal_io: the journal at /state/journal/journal.db takes nothing;");
    free(t);
    await t.clock.advance(1_000);
    expect(call.outcome).toBe("done");
  });

  test("waits, shown as paused and told once, and goes on by itself with its intent before it", async () => {
    fill(t);
    const calls = [watched(bench.call()), watched(bench.sys.spawn("more", null))];
    await t.clock.advance(60_000);
    expect(calls.map(({ outcome }) => outcome)).toEqual(["waits", "waits"]);
    expect([bench.tool.written, await activity(), t.kernel.table.size]).toEqual([[], "paused", 1]);
    expect(said()).toEqual([`paused: ${WORDS}; it resumes by itself when there is room`]);
    free(t);
    await t.clock.advance(1);
    expect(calls.map(({ outcome }) => outcome)).toEqual(["done", "done"]);
    expect([bench.tool.written, await activity()]).toEqual([["{}"], null]);
    expect(said().slice(1)).toEqual(["the disk is writable again; resumed"]);
    expect(t.journal.kinds(bench.pid).filter((kind) => kind === "call.intent")).toHaveLength(1);
  });

  test("that meets the change is waited out and tried again, not failed", async () => {
    for (const kind of KINDS) t.journal.refused.add(kind);
    const gate = Promise.withResolvers<void>();
    t.journal.gate = gate.promise;
    const call = watched(bench.call());
    await settle();
    t.journal.state = FULL;
    gate.resolve();
    t.journal.gate = Promise.resolve();
    await t.clock.advance(1_000);
    expect([call.outcome, bench.tool.written]).toEqual(["waits", []]);
    free(t);
    await settle();
    expect([call.outcome, bench.tool.written]).toEqual(["done", ["{}"]]);
  });

  test("that is refused while the journal says it is well fails, and does not happen", async () => {
    t.journal.refused.add("call.intent");
    await expect(bench.call()).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(bench.tool.written).toEqual([]);
  });

  test.each([1, 2, 3] as const)("ends its wait by signal %d, and does not happen", async (signal) => {
    fill(t);
    const call = watched(bench.call());
    await settle();
    await t.kernel.deliver(bench.proc, signal);
    await t.clock.advance(11_000);
    expect(call.outcome).toMatchObject({ code: "CANCELLED" });
    free(t);
    await settle();
    expect(bench.tool.written).toEqual([]);
  });

  test("that is only a read does not wait", async () => {
    bench.files.script.plan = { effectClass: "none" };
    fill(t);
    const fd = await bench.sys.open("/dev/fs", 2);
    await bench.sys.write(fd, bytes("x"));
    expect(bench.files.written).toEqual(["x"]);
  });

  test("that had begun keeps its result for when the disk takes it", async () => {
    const act = Promise.withResolvers<void>();
    bench.acts(() => act.promise);
    const call = watched(bench.call());
    await settle();
    fill(t);
    act.resolve();
    await settle();
    expect(call.outcome).toBe("done");
    free(t);
    await t.journal.sync();
    expect(t.journal.records.filter(({ kind }) => kind === "call.result")).toHaveLength(1);
    expect(await t.journal.openCalls()).toEqual([]);
  });

  test("burns no time of its process, and a pause within it is a pause still", async () => {
    await t.clock.advance(80_000);
    fill(t);
    const call = watched(bench.call());
    await t.clock.advance(30_000);
    await t.kernel.deliver(bench.proc, 4);
    await t.clock.advance(30_000);
    free(t);
    await t.clock.advance(30_000);
    expect([call.outcome, await activity(), bench.proc.ending.verdict]).toEqual(["waits", "paused", null]);
    await t.kernel.deliver(bench.proc, 5);
    await t.clock.advance(9_000);
    expect([call.outcome, bench.proc.ending.verdict]).toEqual(["done", null]);
    await t.clock.advance(1_000);
    expect(bench.proc.ending.verdict).toMatchObject({ reason: EXIT.timeout.reason });
  });
});

describe("a client while the journal is degraded", () => {
  test("hears why not and what to do, and nothing is half done", async () => {
    fill(t);
    const before = [t.kernel.table.size, t.kernel.contexts.count, t.journal.records.length];
    const refused = {
      code: "UNAVAILABLE",
      message: `${WORDS}; nothing was begun`,
      fact: { kind: "disk", reason: "journal_full", path: "/state/journal/journal.db" },
    };
    await expect(t.init.spawn("more", null)).rejects.toMatchObject(refused);
    await expect(t.init.send(bench.pid, bytes("hello"))).rejects.toMatchObject(refused);
    await expect(t.init.kill(bench.pid, 4)).rejects.toMatchObject(refused);
    await expect(t.kernel.signalTree(bench.pid, 4)).rejects.toMatchObject(refused);
    expect([t.kernel.table.size, t.kernel.contexts.count, t.journal.records.length]).toEqual(before);
    expect([bench.proc.isPaused, bench.proc.mailbox?.size ?? 0]).toEqual([false, 0]);
    free(t);
    await t.init.spawn("more", null);
  });

  test("reads all the same", async () => {
    fill(t);
    expect((await t.init.listProcs()).map(({ pid }) => pid)).toEqual([bench.pid]);
    const logs = await t.kernel.logs(bench.pid, { tail: 10, follow: false });
    expect(await Array.fromAsync(logs)).toEqual([]);
  });
});

describe("an exit while the journal is degraded", () => {
  test("is told to nobody before it is kept", async () => {
    const started = await t.start();
    const wait = watched(t.init.wait(started.pid));
    fill(t);
    started.end(EXIT.completed);
    await t.clock.advance(60_000);
    expect([wait.outcome, started.proc.state, t.kernel.info(started.proc).activity]).toEqual([
      "waits",
      "running",
      "paused",
    ]);
    free(t);
    await settle();
    expect(wait.outcome).toBe("done");
    expect(t.journal.bodies("process.exited")).toMatchObject([{ code: 0 }]);
    expect(t.journal.records.some(({ kind, pid }) => kind === "process.exited" && pid === started.pid)).toBe(
      true,
    );
  });

  test.each([1, 2, 3] as const)(
    "is not waited for once signal %d came, and written later",
    async (signal) => {
      const started = await t.start();
      const wait = watched(t.init.wait(started.pid));
      fill(t);
      started.end(EXIT.completed);
      await settle();
      await t.kernel.deliver(started.proc, signal);
      await settle();
      expect([wait.outcome, t.journal.records.some(({ kind }) => kind === "process.exited")]).toEqual([
        "done",
        false,
      ]);
      free(t);
      await t.journal.sync();
      expect(t.journal.records.filter(({ kind }) => kind === "process.exited")).toHaveLength(1);
    },
  );
});

describe("the kernel's history", () => {
  test("tells of it once it is over, with how long it lasted; the log of both", async () => {
    fill(t);
    await t.clock.advance(30_000);
    t.journal.state = { ...FULL, freeBytes: 0 };
    free(t);
    expect(t.journal.bodies("journal.degraded")).toEqual([
      {
        reason: "journal_full",
        path: FULL.path,
        freeBytes: 3 * 1024 * 1024,
        needBytes: 16 * 1024 * 1024,
        lastedMs: 30_000,
      },
    ]);
    expect(t.logs).toEqual([
      `error: ${WORDS}; processes are paused and resume by themselves when it is writable`,
      "info: the journal is writable again after 30 s",
    ]);
  });
});

describe("a lost journal", () => {
  /** What is on disk of the two processes stays for the next daemon. */
  const AT_REST = { ...NOTHING_LEFT, scratch: 2 };
  const lost: JournalState = {
    state: "lost",
    reason: "journal_sync_failed",
    message: "journal_sync_failed: gone",
  };

  test("ends every process without an exit, kills what it started, and leaves nothing", async () => {
    const child = await t.start({ by: bench.sys });
    const waits = [bench.pid, child.pid].map((pid) => watched(t.init.wait(pid)));
    fill(t);
    const call = watched(bench.call());
    await settle();
    t.journal.state = lost;
    await t.kernel.abandon(lost.message);
    expect(call.outcome).toMatchObject({ code: expect.stringMatching(/CANCELLED|UNAVAILABLE/) });
    for (const { outcome } of waits)
      expect(outcome).toMatchObject({ code: "UNAVAILABLE", message: expect.stringContaining(lost.message) });
    expect([bench.proc.killed.signal.aborted, child.proc.killed.signal.aborted]).toEqual([true, true]);
    expect(t.journal.kinds().filter((kind) => kind === "process.exited")).toEqual([]);
    expect(t.census()).toEqual(AT_REST);
    await expect(t.init.spawn("more", null)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });

  test("an exit that could not be kept is told to nobody", async () => {
    const started = await t.start();
    const wait = watched(t.init.wait(started.pid));
    t.journal.refused.add("process.exited");
    t.journal.state = lost;
    started.end(EXIT.completed);
    await settle();
    expect(wait.outcome).toBe("waits");
    await t.kernel.abandon(lost.message);
    expect(wait.outcome).toMatchObject({ code: "UNAVAILABLE" });
    expect(t.census()).toEqual(AT_REST);
  });

  test("a program that heeds nothing is not waited for beyond its time", async () => {
    await t.start({ stubborn: true });
    const over = watched(t.kernel.abandon("gone"));
    await t.clock.advance(5_000);
    expect(over.outcome).toBe("done");
    expect(t.census()).toEqual(AT_REST);
  });
});

test("a journal that is degraded from the first holds what is begun from the first", async () => {
  const other = testKernel();
  other.journal.state = FULL;
  const late = testKernel({}, other.journal);
  await expect(late.init.spawn("x", null)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  other.journal.state = { state: "well" };
  await late.init.spawn("x", null);
});
