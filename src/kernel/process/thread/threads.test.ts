import { describe, expect, test } from "vitest";
import { printed } from "../../../abi/errors.ts";
import { asFd, asTid } from "../../../abi/ids.ts";
import { EXIT, type ExitStatus } from "../../../abi/process.ts";
import type { Begun, Program } from "../../../abi/program.ts";
import { LIMITS } from "../../limits.ts";
import { guardedBench } from "../../testing/guarded.ts";
import { bytes, NOTHING_LEFT, type Started, type TestKernel, testKernel } from "../../testing/test-kernel.ts";
import { settle } from "../../testing/virtual-clock.ts";

interface Running extends Begun {
  end(exit?: ExitStatus): void;
}

/** A process whose threads wait for the test, or for their end. */
class Bench {
  readonly t: TestKernel;
  readonly main: Started;
  readonly threads = new Map<string, Running>();

  constructor(t: TestKernel, main: Started) {
    this.t = t;
    this.main = main;
  }

  async spawn(intent: string, options: { stubborn?: boolean; maxTurns?: number } = {}) {
    const { stubborn = false, ...opts } = options;
    this.t.programs.set(intent, (sys, start) => {
      const over = Promise.withResolvers<ExitStatus>();
      this.threads.set(intent, { sys, start, end: (exit = EXIT.completed) => over.resolve(exit) });
      if (!stubborn) sys.ending.addEventListener("abort", () => over.resolve(EXIT.unexpected));
      return over.promise;
    });
    const tid = await this.main.sys.spawnThread(intent, opts);
    await settle();
    return { tid, ...(this.threads.get(intent) as Running) };
  }

  get messages() {
    return this.t.kernel.contexts.prompt(this.main.start.ctxId).messages;
  }
}

async function bench(t = testKernel()): Promise<Bench> {
  return new Bench(t, await t.start());
}

describe("a thread", () => {
  test("has its own model file, signal and limit, and all else of its process", async () => {
    const b = await bench();
    const { tid, sys, start } = await b.spawn("dig", { maxTurns: 4 });
    const { main } = b;
    expect([tid, start.intent, start.modelFd, start.maxSteps]).toEqual([1, "dig", 4, 4]);
    expect([start.pid, start.ctxId, start.cwd]).toEqual([main.pid, main.start.ctxId, main.start.cwd]);
    expect(sys.ending).not.toBe(main.sys.ending);
    expect(b.messages.at(-1)).toEqual({
      role: "user",
      content: `<agent-message from="pid ${main.pid}">dig</agent-message>`,
    });
    expect(b.t.kernel.info(main.proc).threads).toBe(1);
    expect((await b.spawn("more")).start.maxSteps).toBe(main.start.maxSteps);
  });

  test("its result is data for who joins, and its model file is closed by then", async () => {
    const b = await bench();
    const { tid, end, sys } = await b.spawn("dig");
    sys.setResult("gold");
    end();
    expect(await b.main.sys.joinThread(tid)).toEqual({ result: "gold" });
    expect([b.main.proc.result, b.main.proc.fds.list().length, b.t.model.live]).toEqual(["", 1, 1]);
    await expect(b.main.sys.joinThread(tid)).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test.each([
    [EXIT.maxSteps, "BUDGET", "max steps exceeded"],
    [EXIT.budget, "BUDGET", "budget_exceeded"],
    [{ code: 1, reason: "model down", kind: "fault" }, "INTERNAL", "model down"],
    [undefined, "INTERNAL", "unexpected exit"],
  ] as const)("its failure is data too: %j", async (exit, code, message) => {
    const b = await bench();
    b.t.programs.set("dig", async (sys) => {
      sys.setResult("half");
      return exit as ExitStatus;
    });
    const tid = await b.main.sys.spawnThread("dig");
    const { result, err } = await b.main.sys.joinThread(tid);
    expect(err).toMatchObject({ code, message });
    expect(result).toBe("half");
  });

  test("that throws ends as a fault that only its join tells", async () => {
    const b = await bench();
    b.t.programs.set("dig", () => Promise.reject(new Error("bug")));
    const tid = await b.main.sys.spawnThread("dig");
    expect(await b.main.sys.joinThread(tid)).toMatchObject({ result: "", err: { message: "bug" } });
    expect([b.main.proc.state, b.t.model.live]).toEqual(["running", 1]);
  });

  test("those who join at the same time hear the same; who gives up leaves it alone", async () => {
    const b = await bench();
    const { tid, end, sys } = await b.spawn("dig");
    const stop = new AbortController();
    const given = expect(b.main.sys.joinThread(tid, stop.signal)).rejects.toMatchObject({
      code: "CANCELLED",
    });
    const both = [b.main.sys.joinThread(tid), b.main.sys.joinThread(tid)];
    await settle();
    stop.abort();
    await given;
    sys.setResult("gold");
    end();
    expect(await Promise.all(both)).toEqual([{ result: "gold" }, { result: "gold" }]);
  });

  test("its states are those of a process; a joined one is gone", async () => {
    const b = await bench();
    const gate = Promise.withResolvers<void>();
    b.t.model.script.open = () => gate.promise;
    const spawning = b.spawn("dig");
    await settle();
    expect(await b.main.sys.listThreads()).toEqual([{ tid: 1, intent: "dig", state: "created" }]);
    gate.resolve();
    const { tid, end } = await spawning;
    expect(await b.main.sys.listThreads()).toEqual([{ tid: 1, intent: "dig", state: "running" }]);
    end();
    await settle();
    expect(await b.main.sys.listThreads()).toEqual([{ tid: 1, intent: "dig", state: "zombie" }]);
    expect(b.t.kernel.info(b.main.proc).threads).toBe(0);
    await b.main.sys.joinThread(tid);
    expect(await b.main.sys.listThreads()).toEqual([]);
    expect((await b.spawn("again")).tid).toBe(2);
  });

  test("shares the account: what it spends is the process's", async () => {
    const b = await bench();
    const { sys, start } = await b.spawn("dig");
    b.t.model.script.charge = () => ({ tokens: 30, usd: null });
    await sys.write(start.modelFd, bytes("{}"));
    expect([b.main.proc.used.tokens, sys.account().used]).toEqual([30, b.main.sys.account().used]);
  });

  test("ends the calls it has left behind", async () => {
    const b = await bench();
    const { end, tid, sys } = await b.spawn("dig");
    const left = expect(sys.recv()).rejects.toMatchObject({ code: "CANCELLED" });
    await settle();
    end();
    await left;
    expect((await b.main.sys.joinThread(tid)).err).toBeUndefined();
  });
});

describe("cancelThread()", () => {
  test("ends its calls, and its join tells; twice is once, also after its end", async () => {
    const b = await bench();
    const { tid, sys } = await b.spawn("dig");
    const call = expect(sys.recv()).rejects.toMatchObject({ code: "CANCELLED" });
    await settle();
    await b.main.sys.cancelThread(tid);
    await b.main.sys.cancelThread(tid);
    await call;
    expect((await b.main.sys.joinThread(tid)).err).toMatchObject({ code: "CANCELLED" });
    await b.main.sys.cancelThread(tid);
    expect(b.main.sys.ending.aborted).toBe(false);
  });

  test("of one that waits for its turn in the context: nothing of it gets there", async () => {
    const b = await bench();
    const gate = Promise.withResolvers<void>();
    const unit = b.main.sys.unit(() => gate.promise);
    const tid = await b.main.sys.spawnThread("dig");
    await b.main.sys.cancelThread(tid);
    gate.resolve();
    await unit;
    expect((await b.main.sys.joinThread(tid)).err).toMatchObject({ code: "CANCELLED" });
    expect(b.messages.map(({ content }) => content)).not.toContain("dig");
  });

  test.each([0, 7, 1.5])("of %d is NOT_FOUND, as joining it", async (n) => {
    const b = await bench();
    const error = await b.main.sys.cancelThread(asTid(n)).catch((e: unknown) => e);
    expect(printed(error)).toBe(`[NOT_FOUND] PID 1 CancelThread: thread not found: ${n}`);
    await expect(b.main.sys.joinThread(asTid(n))).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});

describe("spawnThread()", () => {
  test("the 33rd is UNAVAILABLE, however many at once, until one was joined", async () => {
    const b = await bench();
    const { sys } = b.main;
    b.t.programs.set("dig", async () => EXIT.completed);
    const all = await Promise.allSettled(Array.from({ length: 35 }, () => sys.spawnThread("dig")));
    expect(all.filter(({ status }) => status === "rejected")).toHaveLength(3);
    expect(b.t.model.live).toBeLessThanOrEqual(1 + LIMITS.threads);
    await settle();
    await expect(sys.spawnThread("dig")).rejects.toMatchObject({
      code: "UNAVAILABLE",
      hint: "join threads that have ended",
    });
    await sys.joinThread(asTid(5));
    await sys.spawnThread("dig");
  });

  test("that finds no model fails with its error, and leaves no thread", async () => {
    const b = await bench();
    b.t.model.script.open = () => Promise.reject(new Error("busy"));
    await expect(b.main.sys.spawnThread("dig")).rejects.toMatchObject({ op: "Open", message: "busy" });
    expect([await b.main.sys.listThreads(), b.t.model.live]).toEqual([[], 1]);
  });

  test.each([
    ["", 0],
    ["  ", 0],
    ["x".repeat(LIMITS.intentBytes + 1), 0],
    ["dig", -1],
    ["dig", 1.5],
  ])("of a bad argument is INVALID", async (intent, maxTurns) => {
    const b = await bench();
    await expect(b.main.sys.spawnThread(intent, { maxTurns })).rejects.toMatchObject({ code: "INVALID" });
  });

  test("of who has no reasoning loop is INVALID", async () => {
    await expect(testKernel().init.spawnThread("dig")).rejects.toMatchObject({
      code: "INVALID",
      message: "a process of kind service has no reasoning loop",
    });
  });

  test("by a program under /bin that did not declare it is PERMISSION: a thread has all the rights", async () => {
    const b = await guardedBench();
    let refused: unknown;
    b.acts(async (sys) => {
      refused = await sys.spawnThread("dig").catch((error: unknown) => error);
    });
    await b.call();
    expect(refused).toMatchObject({ code: "PERMISSION", syscall: "SpawnThread" });
  });

  test("by one that declared it is a thread like any other", async () => {
    const b = await guardedBench();
    b.tool.script.effects = [{ kind: "state", path: "/proc/self/threads" }];
    const joined: unknown[] = [];
    b.acts(async (sys) => {
      joined.push(await sys.joinThread(await sys.spawnThread("dig")));
    });
    b.t.programs.set("dig", async (sys, { ctxId }) => {
      await sys.appendMessage(ctxId, "assistant", "dug");
      sys.setResult("gold");
      return EXIT.completed;
    });
    await b.call();
    expect(joined).toEqual([{ result: "gold" }]);
  });

  test("waits while the process is paused, and its threads hold at their next step", async () => {
    const b = await bench();
    const { sys } = await b.spawn("dig");
    await b.t.init.kill(b.main.pid, 4);
    const spawned = b.main.sys.spawnThread("more");
    let passed = false;
    const held = sys.waitIfPaused().then(() => {
      passed = true;
    });
    await b.t.clock.advance(1_000);
    expect([passed, (await b.main.proc.threads?.list())?.length]).toEqual([false, 1]);
    await b.t.init.kill(b.main.pid, 5);
    await held;
    expect(await spawned).toBe(2);
  });
});

describe("units", () => {
  test("4 threads and the main loop that append pairs: no pair is split, and no prompt sees a half", async () => {
    const b = await bench();
    const halves: number[] = [];
    const work: Program = async (sys, { ctxId, intent }) => {
      for (let n = 0; n < 12; n++) {
        await sys.unit(async () => {
          await sys.appendMessage(ctxId, "assistant", `${intent} calls ${n}`);
          await settle(1 + (n % 2));
          await sys.appendToolResult(ctxId, `${intent}-${n}`, `${intent} has ${n}`);
        });
        const { messages } = await sys.unit(() => sys.buildPrompt(ctxId));
        halves.push(messages.filter(({ role }) => role === "assistant").length);
        halves.push(-messages.filter(({ role }) => role === "tool").length);
      }
      return EXIT.completed;
    };
    const intents = ["a", "b", "c", "d"];
    for (const intent of intents) b.t.programs.set(intent, work);
    const tids = await Promise.all(intents.map((intent) => b.main.sys.spawnThread(intent)));
    await work(b.main.sys, b.main.start);
    for (const tid of tids) expect((await b.main.sys.joinThread(tid)).err).toBeUndefined();
    const said = b.messages.filter(({ role }) => role !== "user");
    expect(said).toHaveLength(5 * 12 * 2);
    for (let at = 0; at < said.length; at += 2)
      expect(said[at + 1]?.content).toBe(said[at]?.content.replace("calls", "has"));
    expect(halves.reduce((sum, n) => sum + n, 0)).toBe(0);
    expect(b.messages.filter(({ role }) => role === "user")).toHaveLength(5);
  });
});

describe("the end of a process", () => {
  test("ends its threads before its files are closed", async () => {
    const b = await bench();
    const { tid, sys } = await b.spawn("dig");
    const order: string[] = [];
    sys.ending.addEventListener("abort", () => order.push("thread told"));
    b.t.model.script.close = async () => void order.push(`closed, ${b.main.proc.fds.list().length} left`);
    b.main.end();
    expect((await b.t.init.wait(b.main.pid)).code).toBe(0);
    // its own model file with the thread, then fd 3
    expect(order).toEqual(["thread told", "closed, 1 left", "closed, 0 left"]);
    expect(tid).toBe(1);
    expect(b.t.logs).toEqual([]);
    expect(b.t.census()).toEqual(NOTHING_LEFT);
  });

  test.each([1, 2, 3] as const)("by signal %i ends them too, and who joins is CANCELLED", async (signal) => {
    const b = await bench();
    const { tid, sys } = await b.spawn("dig");
    const joined = expect(b.main.sys.joinThread(tid)).rejects.toMatchObject({ code: "CANCELLED" });
    await settle();
    await b.t.init.kill(b.main.pid, signal);
    await joined;
    expect(sys.ending.aborted).toBe(true);
    await b.t.init.wait(b.main.pid);
    expect(b.t.census()).toEqual(NOTHING_LEFT);
  });

  test("ends one that is still opening its model, and leaves no file", async () => {
    const b = await bench();
    const gate = Promise.withResolvers<void>();
    b.t.model.script.open = () => gate.promise;
    const spawned = expect(b.main.sys.spawnThread("dig")).rejects.toMatchObject({ code: "CANCELLED" });
    await settle();
    b.main.end();
    await spawned;
    gate.resolve();
    await b.t.init.wait(b.main.pid);
    await settle();
    expect(b.t.census()).toEqual(NOTHING_LEFT);
  });

  test("waits 5 s for one that does not heed it, once; then it is given up", async () => {
    const b = await bench();
    await b.spawn("deaf", { stubborn: true });
    b.main.end();
    await b.t.clock.advance(4_999);
    expect(b.main.proc.state).toBe("running");
    await b.t.clock.advance(1);
    expect(b.main.proc.state).toBe("zombie");
    await b.t.init.reap(b.main.pid);
    expect(b.t.logs).toEqual(["error: pid 1: 1 threads do not end; given up"]);
    expect(b.t.census()).toEqual(NOTHING_LEFT);
  });

  test("starts no thread any more", async () => {
    const b = await bench();
    await b.spawn("dig");
    const { threads } = b.main.proc;
    b.main.end();
    await b.main.proc.done.promise;
    const { signal } = new AbortController();
    await expect(threads?.spawn("late", 0, signal)).rejects.toMatchObject({
      code: "CANCELLED",
    });
    await expect(b.main.sys.read(asFd(4), 1)).rejects.toMatchObject({ code: "CANCELLED" });
  });
});
