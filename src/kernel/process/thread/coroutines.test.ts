import { describe, expect, test } from "vitest";
import { printed, type SyscallError, VfsError } from "../../../abi/errors.ts";
import { asCoId } from "../../../abi/ids.ts";
import { EXIT } from "../../../abi/process.ts";
import type { Program } from "../../../abi/program.ts";
import type { CoroutineHandle } from "../../../abi/sys.ts";
import { LIMITS } from "../../limits.ts";
import { guardedBench } from "../../testing/guarded.ts";
import { NOTHING_LEFT, testKernel } from "../../testing/test-kernel.ts";
import { settle } from "../../testing/virtual-clock.ts";

type Co = CoroutineHandle<unknown, unknown>;

async function started(options: { stubborn?: boolean } = {}) {
  const t = testKernel();
  return { t, ...(await t.start(options)) };
}

/** Waits in its yield for ever; tells how that ended. */
function waiter(log: string[] = []) {
  return async (co: Co): Promise<void> => {
    try {
      for (;;) await co.yield("here");
    } catch (error) {
      log.push((error as { code: string }).code);
      throw error;
    } finally {
      log.push("cleaned up");
    }
  };
}

/** Runs for ever, and does not heed its signal when it is deaf. */
const runner =
  (deaf = false) =>
  (co: Co): Promise<never> =>
    new Promise((_resolve, reject) => {
      if (!deaf) co.signal.addEventListener("abort", () => reject(co.signal.reason));
    });

describe("a coroutine", () => {
  test("starts at the first resume, with its value; values pass both ways, in order", async () => {
    const { sys } = await started();
    const log: unknown[] = [];
    const id = await sys.spawnCoroutine(async (co: CoroutineHandle<number, string>, first: number) => {
      log.push(first);
      for (const word of ["one", "two"]) log.push(await co.yield(word));
      return "end";
    });
    await settle();
    expect(log).toEqual([]);
    expect(await sys.resumeCoroutine(id, 10)).toEqual({ done: false, value: "one" });
    expect(await sys.resumeCoroutine(id, 20)).toEqual({ done: false, value: "two" });
    expect(await sys.resumeCoroutine(id, 30)).toEqual({ done: true, value: "end" });
    expect(log).toEqual([10, 20, 30]);
  });

  test("runs only between a resume and a yield", async () => {
    const { sys } = await started();
    let turns = 0;
    const id = await sys.spawnCoroutine(async (co: Co) => {
      for (;;) {
        turns++;
        await co.yield(turns);
      }
    });
    for (const n of [1, 2, 3]) {
      expect(await sys.resumeCoroutine(id, null)).toEqual({ done: false, value: n });
      await settle();
      expect(turns).toBe(n);
    }
  });

  test("resumed while it runs is CONFLICT, and goes on", async () => {
    const { sys } = await started();
    const gate = Promise.withResolvers<string>();
    const id = await sys.spawnCoroutine(() => gate.promise);
    const first = sys.resumeCoroutine(id, 1);
    await expect(sys.resumeCoroutine(id, 2)).rejects.toMatchObject({
      code: "CONFLICT",
      message: "the coroutine is running",
    });
    gate.resolve("done");
    expect(await first).toEqual({ done: true, value: "done" });
  });

  test("may resume another, but not itself", async () => {
    const { sys } = await started();
    const inner = await sys.spawnCoroutine(async (co: Co, n) => {
      await co.yield((n as number) + 1);
    });
    const codes: string[] = [];
    const outer = await sys.spawnCoroutine(async () => {
      const step = await sys.resumeCoroutine<number, number, void>(inner, 1);
      await sys.resumeCoroutine(asCoId(2), 0).catch((error: { code: string }) => codes.push(error.code));
      return step.value;
    });
    expect(await sys.resumeCoroutine(outer, null)).toEqual({ done: true, value: 2 });
    expect(codes).toEqual(["CONFLICT"]);
  });

  test("after its end it is INVALID, by return or by throw", async () => {
    const { t, sys, proc } = await started();
    const returns = await sys.spawnCoroutine(async () => 1);
    const throws = await sys.spawnCoroutine(async () => {
      throw new VfsError({ op: "Read", pid: sys.getPid(), code: "DRIVER", message: "no disk" });
    });
    await sys.resumeCoroutine(returns, null);
    await expect(sys.resumeCoroutine(throws, null)).rejects.toMatchObject({ code: "DRIVER", op: "Read" });
    for (const id of [returns, throws])
      await expect(sys.resumeCoroutine(id, null)).rejects.toMatchObject({
        code: "INVALID",
        message: "the coroutine has ended",
      });
    expect(t.kernel.info(proc).coroutines).toBe(0);
  });

  test("that throws what is no fault rejects as INTERNAL, with its words, also before it waits", async () => {
    const { sys } = await started();
    const id = await sys.spawnCoroutine(() => {
      throw new Error("bug");
    });
    await expect(sys.resumeCoroutine(id, null)).rejects.toMatchObject({ code: "INTERNAL", message: "bug" });
  });

  test("who gives up a resume leaves it alone: it runs on, and what it yields then is dropped", async () => {
    const { sys } = await started();
    const gate = Promise.withResolvers<void>();
    const got: unknown[] = [];
    const id = await sys.spawnCoroutine(async (co: Co, first) => {
      got.push(first);
      await gate.promise;
      got.push(await co.yield("dropped"));
      return "end";
    });
    const stop = new AbortController();
    const given = expect(sys.resumeCoroutine(id, 1, stop.signal)).rejects.toMatchObject({
      code: "CANCELLED",
    });
    await settle();
    stop.abort();
    await given;
    await expect(sys.resumeCoroutine(id, 2)).rejects.toMatchObject({ code: "CONFLICT" });
    gate.resolve();
    await settle();
    await expect(sys.resumeCoroutine(id, 3, AbortSignal.abort())).rejects.toMatchObject({
      code: "CANCELLED",
    });
    expect(await sys.resumeCoroutine(id, 4)).toEqual({ done: true, value: "end" });
    expect(got).toEqual([1, 4]);
  });

  test("that does not wait for its yield is told so, and a cancel of it takes nobody with it", async () => {
    const { sys } = await started();
    const codes: string[] = [];
    const gate = Promise.withResolvers<void>();
    const id = await sys.spawnCoroutine(async (co: Co) => {
      void co.yield("first");
      await co.yield("second").catch((error: { code: string }) => codes.push(error.code));
      await gate.promise;
    });
    expect(await sys.resumeCoroutine(id, null)).toEqual({ done: false, value: "first" });
    await settle();
    expect(codes).toEqual(["CONFLICT"]);
    await sys.cancelCoroutine(id);
    gate.resolve();
    await settle();
  });
});

describe("cancelCoroutine()", () => {
  test("rejects the body in its yield, which may clean up; twice is once", async () => {
    const { sys } = await started();
    const log: string[] = [];
    const id = await sys.spawnCoroutine(waiter(log));
    await sys.resumeCoroutine(id, null);
    await sys.cancelCoroutine(id);
    await sys.cancelCoroutine(id);
    await settle();
    expect(log).toEqual(["CANCELLED", "cleaned up"]);
    await expect(sys.resumeCoroutine(id, null)).rejects.toMatchObject({ code: "INVALID" });
    await sys.cancelCoroutine(id);
  });

  test("rejects who waits for one that runs, and fires its signal", async () => {
    const { sys } = await started();
    const id = await sys.spawnCoroutine(runner());
    const resumed = expect(sys.resumeCoroutine(id, null)).rejects.toMatchObject({ code: "CANCELLED" });
    await settle();
    await sys.cancelCoroutine(id);
    await resumed;
  });

  test("a yield after it rejects at once", async () => {
    const { sys } = await started();
    const gate = Promise.withResolvers<void>();
    let late: unknown;
    const id = await sys.spawnCoroutine(async (co: Co) => {
      await gate.promise;
      late = await co.yield("late").catch((error: unknown) => error);
    });
    sys.resumeCoroutine(id, null).catch(() => {});
    await settle();
    await sys.cancelCoroutine(id);
    gate.resolve();
    await settle();
    expect(late).toMatchObject({ code: "CANCELLED" });
  });

  test("one that has not started never does", async () => {
    const { t, sys, proc } = await started();
    let ran = false;
    const id = await sys.spawnCoroutine(async () => {
      ran = true;
    });
    await sys.cancelCoroutine(id);
    await expect(sys.resumeCoroutine(id, null)).rejects.toMatchObject({ code: "INVALID" });
    expect([ran, t.kernel.info(proc).coroutines]).toEqual([false, 0]);
  });

  test.each([0, 7, 1.5])("of %d is NOT_FOUND, as resuming it", async (n) => {
    const { sys } = await started();
    const error = await sys.cancelCoroutine(asCoId(n)).catch((e: unknown) => e);
    expect(printed(error)).toBe(`[NOT_FOUND] PID 1 CancelCoroutine: coroutine not found: ${n}`);
    await expect(sys.resumeCoroutine(asCoId(n), null)).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});

describe("spawnCoroutine()", () => {
  test("the 65th is UNAVAILABLE, until one has ended", async () => {
    const { t, sys, proc } = await started();
    const ids = await Promise.all(Array.from({ length: 64 }, () => sys.spawnCoroutine(waiter())));
    expect(ids).toEqual(Array.from({ length: 64 }, (_, n) => n + 1));
    await expect(sys.spawnCoroutine(waiter())).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(t.kernel.info(proc).coroutines).toBe(LIMITS.coroutines);
    await sys.cancelCoroutine(asCoId(3));
    await settle();
    expect(await sys.spawnCoroutine(waiter())).toBe(65);
  });

  test("one that was cancelled and runs on still counts", async () => {
    const { t, sys, proc } = await started();
    for (let n = 0; n < LIMITS.coroutines; n++) {
      const id = await sys.spawnCoroutine(runner(true));
      sys.resumeCoroutine(id, null).catch(() => {});
      await sys.cancelCoroutine(id);
    }
    await expect(sys.spawnCoroutine(waiter())).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(t.kernel.info(proc).coroutines).toBe(0);
  });

  test("of what is neither a function nor a task is INVALID", async () => {
    const { sys } = await started();
    for (const body of ["x", null, {}, { intent: " " }, { intent: "x", maxTurns: -1 }])
      await expect(sys.spawnCoroutine(body as never)).rejects.toMatchObject({ code: "INVALID" });
  });

  test("by a program under /bin: a task that it declared, never a function", async () => {
    const bench = await guardedBench();
    const spawns = async () => {
      const codes: unknown[] = [];
      bench.acts(async (sys) => {
        for (const body of [async () => 1, { intent: "x" }])
          codes.push(await sys.spawnCoroutine(body).catch((error: SyscallError) => error.code));
      });
      await bench.call();
      return codes;
    };
    expect(await spawns()).toEqual(["INVALID", "PERMISSION"]);
    bench.tool.script.effects = [{ kind: "state", path: "/proc/self/coroutines" }];
    expect(await spawns()).toEqual(["INVALID", 1]);
  });
});

describe("a coroutine that reasons", () => {
  /** Answers each message with the messages it sees. */
  async function reasoning() {
    const s = await started();
    const echo: Program = async (sys, start) => {
      const { systemPrompt, messages } = await sys.buildPrompt(start.ctxId);
      const words = messages.map(({ content }) => content).join(" | ");
      sys.setResult(`${systemPrompt}${words}`);
      await sys.appendMessage(start.ctxId, "assistant", `seen ${messages.length}`);
      return start.intent.includes("break") ? { code: 1, reason: "broken", kind: "fault" } : EXIT.completed;
    };
    for (const intent of ["judge\n\none", "two", "break"]) s.t.programs.set(intent, echo);
    return { ...s, id: await s.sys.spawnCoroutine({ intent: "judge" }) };
  }

  test("answers each value in a conversation of its own", async () => {
    const { sys, start, t, id } = await reasoning();
    const before = await sys.buildPrompt(start.ctxId);
    expect(await sys.resumeCoroutine(id, "one")).toEqual({ done: false, value: "judge\n\none" });
    expect(await sys.resumeCoroutine(id, "two")).toEqual({
      done: false,
      value: "judge\n\none | seen 1 | two",
    });
    expect(await sys.buildPrompt(start.ctxId)).toEqual(before);
    expect(t.kernel.contexts.count).toBe(2);
  });

  test("that fails, is cancelled, or ends with its process leaves nothing", async () => {
    const { sys, t, id, end, pid, proc } = await reasoning();
    await expect(sys.resumeCoroutine(id, "one")).resolves.toBeDefined();
    await expect(sys.resumeCoroutine(id, "break")).rejects.toMatchObject({ message: "broken" });
    await settle();
    expect([t.kernel.contexts.count, t.kernel.info(proc).coroutines]).toEqual([1, 0]);
    const [cancelled, left] = [
      await sys.spawnCoroutine({ intent: "judge" }),
      await sys.spawnCoroutine({ intent: "judge" }),
    ];
    for (const each of [cancelled, left]) await sys.resumeCoroutine(each, "one");
    await sys.cancelCoroutine(cancelled);
    await settle();
    expect(t.kernel.contexts.count).toBe(2);
    end();
    await t.init.wait(pid);
    expect(t.census()).toEqual(NOTHING_LEFT);
  });
});

describe("the end of a process", () => {
  test("with 32 coroutines that wait in their yields, or were never resumed: it reaps", async () => {
    const { t, sys, pid, end } = await started();
    const log: string[] = [];
    for (let n = 0; n < 32; n++) {
      const id = await sys.spawnCoroutine(waiter(log));
      if (n % 4 !== 0) await sys.resumeCoroutine(id, n);
    }
    end();
    await t.init.wait(pid);
    expect(log.filter((word) => word === "CANCELLED")).toHaveLength(24);
    expect(log.filter((word) => word === "cleaned up")).toHaveLength(24);
    expect([t.clock.mono(), t.logs]).toEqual([0, []]);
    expect(t.census()).toEqual(NOTHING_LEFT);
  });

  test("rejects who waits for one, and fires its signal as soon as the process is told", async () => {
    const { t, sys, pid } = await started();
    const id = await sys.spawnCoroutine(runner());
    const resumed = expect(sys.resumeCoroutine(id, null)).rejects.toMatchObject({ code: "CANCELLED" });
    await settle();
    await t.init.kill(pid, 1);
    await resumed;
    await t.init.wait(pid);
    expect(t.census()).toEqual(NOTHING_LEFT);
  });

  test("is not held up by bodies that do not heed their signal: 5 s in all", async () => {
    const { t, sys, pid, proc, end } = await started();
    for (let n = 0; n < 3; n++) {
      const id = await sys.spawnCoroutine(runner(true));
      sys.resumeCoroutine(id, null).catch(() => {});
    }
    end();
    await proc.done.promise;
    const reaped = t.init.wait(pid);
    await t.clock.advance(4_999);
    expect(proc.state).toBe("zombie");
    await t.clock.advance(1);
    await reaped;
    expect(t.logs).toEqual(["error: pid 1: 3 coroutines do not end; given up"]);
    expect(t.census()).toEqual(NOTHING_LEFT);
  });

  test("one that is made while the process is being ended never runs, and holds nothing up", async () => {
    const { t, sys, pid, end } = await started({ stubborn: true });
    await t.init.kill(pid, 1);
    const id = await sys.spawnCoroutine(waiter());
    await expect(sys.resumeCoroutine(id, null)).rejects.toMatchObject({ code: "INVALID" });
    end();
    await t.init.wait(pid);
    expect(t.clock.mono()).toBe(0);
    expect(t.census()).toEqual(NOTHING_LEFT);
  });

  test("leaves nothing on the process's signal of those that ended before", async () => {
    const { sys, proc } = await started();
    let listeners = 0;
    const { signal } = proc.abort;
    const { addEventListener, removeEventListener } = signal;
    signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
      listeners++;
      addEventListener.apply(signal, args);
    };
    signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
      listeners--;
      removeEventListener.apply(signal, args);
    };
    const [returns, cancelled, fresh] = [
      await sys.spawnCoroutine(async () => 1),
      await sys.spawnCoroutine(waiter()),
      await sys.spawnCoroutine(waiter()),
    ];
    await sys.resumeCoroutine(returns, null);
    await sys.resumeCoroutine(cancelled, null);
    await sys.cancelCoroutine(cancelled);
    await sys.cancelCoroutine(fresh);
    await settle();
    expect(listeners).toBe(0);
  });
});
