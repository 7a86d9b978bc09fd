import { describe, expect, test } from "vitest";
import { printed } from "../../abi/errors.ts";
import { asPid } from "../../abi/ids.ts";
import { EXIT, type ExitStatus, type ProcessKind } from "../../abi/process.ts";
import { LIMITS } from "../limits.ts";
import { outputName } from "../ports/spools.ts";
import type { LogPiece, Subscription } from "../ports/subscription.ts";
import type { Body } from "../process/body.ts";
import type { Process } from "../process/process.ts";
import { spawnBody } from "../process/spawn/spawn.ts";
import { MemorySpools } from "../testing/memory-spools.ts";
import { bytes, NOTHING_LEFT, type Started, type TestKernel, testKernel } from "../testing/test-kernel.ts";
import { settle } from "../testing/virtual-clock.ts";

const ALL = { tail: 1_000, follow: false };

async function wordsOf(pieces: Promise<Subscription<LogPiece>> | Subscription<LogPiece>): Promise<string[]> {
  return (await Array.fromAsync(await pieces)).map((piece) =>
    "entry" in piece ? piece.entry.message : Buffer.from(piece.data).toString(),
  );
}

/** An agent that has said this. */
async function agentThatSaid(count: number): Promise<{ t: TestKernel } & Started> {
  const t = testKernel();
  const started = await t.start();
  for (let n = 1; n <= count; n++) started.sys.log("info", `line ${n}`);
  return { t, ...started };
}

/** A process of this kind that lives until the test ends it, and writes into its spool if it has one. */
async function processOf(kind: ProcessKind, hasSpool = true) {
  const spools = new MemorySpools();
  const t = testKernel({ spools });
  const over = Promise.withResolvers<ExitStatus>();
  const body: Body = {
    kind,
    name: "make",
    agent: null,
    isActive: true,
    prepare: async () => {},
    run: () => over.promise,
  };
  const { root } = t.kernel;
  const proc: Process = await spawnBody(
    t.kernel,
    { caller: root, intent: "make", body, opts: {} },
    root.abort.signal,
  );
  const output = hasSpool ? spools.open(outputName(proc.seed.uuid), "drop") : undefined;
  const end = async (): Promise<void> => {
    output?.end();
    over.resolve(EXIT.completed);
    await proc.done.promise;
  };
  return { t, proc, pid: proc.pid, spools, end, write: (text: string) => output?.write(bytes(text)) };
}

describe("logs() of an agent", () => {
  test("that lives: its newest lines, then what comes until its end", async () => {
    const { t, pid, end, sys } = await agentThatSaid(3);
    expect(await wordsOf(t.kernel.logs(pid, { tail: 2, follow: false }))).toEqual(["line 2", "line 3"]);
    const followed = wordsOf(t.kernel.logs(pid, { tail: 1, follow: true }));
    await settle();
    sys.log("warn", "line 4");
    end();
    expect(await followed).toEqual(["line 3", "line 4"]);
  });

  test("that is a zombie: what it said, and the end, also for who follows", async () => {
    const { t, pid, proc, end } = await agentThatSaid(2);
    end();
    await proc.done.promise;
    expect(await wordsOf(t.kernel.logs(pid, { tail: 9, follow: true }))).toEqual(["line 1", "line 2"]);
  });

  test("that is gone: from the journal, with its times", async () => {
    const { t, pid, end, sys } = await agentThatSaid(1);
    await t.clock.advance(40);
    sys.log("error", "late");
    end();
    await t.init.wait(pid);
    const pieces = await Array.fromAsync(await t.kernel.logs(pid, ALL));
    expect(pieces).toEqual([
      { entry: { timestampMs: 0, level: "info", message: "line 1" } },
      { entry: { timestampMs: 40, level: "error", message: "late" } },
    ]);
    expect(await wordsOf(t.kernel.logs(pid, { tail: 1, follow: true }))).toEqual(["late"]);
    expect(await wordsOf(t.kernel.logs(pid, { tail: 0, follow: false }))).toEqual([]);
  });

  test("that came to a result: that is its last line, alive or gone, and whatever it said before", async () => {
    const { t, pid, proc, end, sys } = await agentThatSaid(1);
    const followed = wordsOf(t.kernel.logs(pid, { tail: 0, follow: true }));
    sys.setResult("All done.");
    end();
    await proc.done.promise;
    const all = ["line 1", "result: All done."];
    expect(await followed).toEqual(all.slice(1));
    expect(await wordsOf(t.kernel.logs(pid, ALL))).toEqual(all);
    await t.init.wait(pid);
    expect(await wordsOf(t.kernel.logs(pid, ALL))).toEqual(all);
    expect(await wordsOf(t.kernel.logs(pid, { tail: 1, follow: false }))).toEqual(all.slice(1));
    expect(await wordsOf(t.kernel.logs(pid, { tail: 0, follow: false }))).toEqual([]);
  });

  test("that is gone, over many pages of its history", async () => {
    const { t, pid, end } = await agentThatSaid(700);
    end();
    await t.init.wait(pid);
    const lines = await wordsOf(t.kernel.logs(pid, { tail: 600, follow: false }));
    expect([lines.length, lines[0], lines.at(-1)]).toEqual([600, "line 101", "line 700"]);
  });

  test("of an earlier daemon is found too", async () => {
    const { t, pid, end } = await agentThatSaid(2);
    end();
    await t.init.wait(pid);
    await t.journal.sync();
    const later = testKernel({}, t.journal);
    expect(await wordsOf(later.kernel.logs(pid, ALL))).toEqual(["line 1", "line 2"]);
  });

  test("a disk that refuses does not keep anybody from reading", async () => {
    const { t, pid, end } = await agentThatSaid(1);
    end();
    await t.init.wait(pid);
    await t.journal.sync();
    t.journal.sync = () => Promise.reject(new Error("the disk is full"));
    expect(await wordsOf(t.kernel.logs(pid, ALL))).toEqual(["line 1"]);
  });

  test("close() ends it, and nothing is kept for it", async () => {
    const { t, pid, end, sys } = await agentThatSaid(2);
    const logs = await t.kernel.logs(pid, { tail: 0, follow: true });
    const read = wordsOf(logs);
    logs.close();
    logs.close();
    expect(await read).toEqual([]);
    for (let n = 0; n < LIMITS.logEntries + 9; n++) sys.log("info", "x");
    expect(logs.dropped).toBe(0);
    end();
    await t.init.wait(pid);
    const gone = await t.kernel.logs(pid, ALL);
    gone.close();
    expect(await wordsOf(gone)).toEqual([]);
    expect(t.census()).toEqual(NOTHING_LEFT);
  });

  test("a reader that is too slow is told how much it lost", async () => {
    const { t, pid, sys } = await agentThatSaid(0);
    const logs = await t.kernel.logs(pid, { tail: 0, follow: true });
    for (let n = 0; n < LIMITS.logEntries + 9; n++) sys.log("info", "x");
    expect(logs.dropped).toBe(9);
    logs.close();
  });

  test.each([0, 99])("pid %i is NOT_FOUND", async (n) => {
    const error = await testKernel()
      .kernel.logs(asPid(n), ALL)
      .catch((e: unknown) => e);
    expect(printed(error)).toBe(`[NOT_FOUND] PID 0 Logs: process not found: ${n}`);
  });
});

describe("logs() of a native", () => {
  test("that lives: the last lines of its output as it is, without waiting for more", async () => {
    const p = await processOf("native");
    p.write("one\ntwo\nthr");
    expect(await wordsOf(p.t.kernel.logs(p.pid, { tail: 2, follow: false }))).toEqual(["two\nthr"]);
    expect(await wordsOf(p.t.kernel.logs(p.pid, { tail: 0, follow: false }))).toEqual([]);
  });

  test("that is followed: then what it writes until its end", async () => {
    const p = await processOf("native");
    p.write("one\ntwo\n");
    const followed = wordsOf(p.t.kernel.logs(p.pid, { tail: 1, follow: true }));
    await settle();
    p.write("three\n");
    await settle();
    p.write("four");
    await p.end();
    expect(await followed).toEqual(["two\n", "three\n", "four"]);
  });

  test("that is a zombie, and that is gone: from its spool", async () => {
    const p = await processOf("native");
    p.write("one\ntwo\n");
    await p.end();
    const tail = { tail: 1, follow: true };
    expect(await wordsOf(p.t.kernel.logs(p.pid, tail))).toEqual(["two\n"]);
    await p.t.init.wait(p.pid);
    expect(await wordsOf(p.t.kernel.logs(p.pid, tail))).toEqual(["two\n"]);
  });

  test("whose spool is gone is NOT_FOUND, in words of its own", async () => {
    const p = await processOf("native");
    await p.end();
    await p.t.init.wait(p.pid);
    p.spools.spools.clear();
    await expect(p.t.kernel.logs(p.pid, ALL)).rejects.toMatchObject({
      code: "NOT_FOUND",
      message: "the output of process 1 is not kept any more",
    });
  });

  test("that has no spool: what the kernel said of it", async () => {
    const p = await processOf("native", false);
    p.proc.log("warn", "no output", 0);
    expect(await wordsOf(p.t.kernel.logs(p.pid, ALL))).toEqual(["no output"]);
  });

  test("with much output: its last lines, at most 1 MiB of them", async () => {
    const p = await processOf("native");
    p.write(`${"x".repeat(LIMITS.logTailBytes + 500_000)}\nshort\n`);
    const one = await wordsOf(p.t.kernel.logs(p.pid, { tail: 1, follow: false }));
    expect(one).toEqual(["short\n"]);
    const [all = ""] = await wordsOf(p.t.kernel.logs(p.pid, { tail: 9, follow: false }));
    expect([all.length, all.endsWith("x\nshort\n")]).toEqual([LIMITS.logTailBytes, true]);
  });

  test("close() ends a read that waits; breaking off closes the spool's reader, once", async () => {
    const p = await processOf("native");
    let closed = 0;
    const { find } = p.spools;
    p.spools.find = (name) => {
      const reader = find.call(p.spools, name);
      if (reader !== undefined) reader.close = () => void closed++;
      return reader;
    };
    const logs = await p.t.kernel.logs(p.pid, { tail: 9, follow: true });
    const read = wordsOf(logs);
    await settle();
    logs.close();
    logs.close();
    expect([await read, closed]).toEqual([[], 1]);
    p.write("x\n");
    for await (const _piece of await p.t.kernel.logs(p.pid, { tail: 9, follow: true })) break;
    expect(closed).toBe(2);
  });

  test("a spool that fails is an error of the reader", async () => {
    const p = await processOf("native");
    p.spools.find = () => ({
      available: 1,
      read: () => Promise.reject(new Error("EIO")),
      close: () => {},
    });
    await expect(wordsOf(p.t.kernel.logs(p.pid, ALL))).rejects.toThrow("EIO");
  });
});

describe("what the journal keeps of a log", () => {
  test("ends after 10,000 lines, the last of which says so", async () => {
    const { t, pid, end } = await agentThatSaid(LIMITS.journalLogLines + 50);
    end();
    await t.init.wait(pid);
    const lines = t.journal.bodies("process.log");
    expect(lines).toHaveLength(LIMITS.journalLogLines);
    expect(lines.at(-2)).toMatchObject({ message: `line ${LIMITS.journalLogLines - 1}` });
    expect(lines.at(-1)).toMatchObject({
      level: "warn",
      message: "the log is longer than what is kept of it: the rest is lost",
    });
  });

  test("ends when its lines are too long in all; one line is cut", async () => {
    const { t, sys } = await agentThatSaid(0);
    const long = "x".repeat(LIMITS.journalWordsChars + 1);
    for (let n = 0; n < 1_000; n++) sys.log("info", long);
    const lines = t.journal.bodies("process.log") as { message: string }[];
    expect(lines[0]?.message).toHaveLength(LIMITS.journalWordsChars);
    const chars = lines.reduce((sum, { message }) => sum + message.length, 0);
    expect(chars).toBeLessThanOrEqual(LIMITS.journalLogChars);
    expect(lines.at(-1)?.message).toContain("longer than what is kept");
  });
});
