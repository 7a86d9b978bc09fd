import { describe, expect, test } from "vitest";
import { EXIT, type Signal } from "../../../abi/process.ts";
import { LIMITS } from "../../limits.ts";
import { NOTHING_LEFT, testKernel } from "../../testing/test-kernel.ts";
import { settle } from "../../testing/virtual-clock.ts";

describe("a handler", () => {
  test("of TERM: the process goes on, until it ends by itself", async () => {
    const t = testKernel();
    const { sys, pid, proc, end } = await t.start();
    await sys.sigHandle(1, () => {});
    await t.init.kill(pid, 1);
    await t.clock.advance(20_000);
    expect(proc.state).toBe("running");
    end();
    expect(await t.init.wait(pid)).toEqual(EXIT.completed);
  });

  test.each([
    [
      "throws",
      () => {
        throw new Error("no");
      },
    ],
    ["rejects", () => Promise.reject(new Error("no"))],
  ] as const)("that %s is logged, and the default acts", async (_how, handler) => {
    const t = testKernel();
    const { sys, pid, proc } = await t.start();
    await sys.sigHandle(1, handler);
    const lines: string[] = [];
    proc.keepLog(({ level, message }) => lines.push(`${level} ${message}`));
    expect(await t.init.signal(pid, 1)).toBe("handler");
    expect(await t.init.wait(pid)).toEqual(EXIT.sigterm);
    expect(lines[0]).toBe("warn the handler of SIGTERM failed, the default acts: no");
    expect(t.journal.bodies("signal")).toEqual([
      { signal: 1, disposition: "handler", paused: false, ranMs: 0 },
      { signal: 1, disposition: "default", paused: false, ranMs: 0 },
    ]);
    expect(t.census()).toEqual(NOTHING_LEFT);
  });

  test("that takes over 5 s is logged, and the default acts", async () => {
    const t = testKernel();
    const { sys, pid, proc } = await t.start();
    await sys.sigHandle(4, () => new Promise(() => {}));
    const lines: string[] = [];
    proc.keepLog(({ message }) => lines.push(message));
    await t.init.kill(pid, 4);
    await t.clock.advance(4_999);
    expect(proc.isPaused).toBe(false);
    await t.clock.advance(1);
    expect(proc.isPaused).toBe(true);
    expect(lines).toEqual(["the handler of SIGPAUSE failed, the default acts: it took over 5000 ms"]);
    expect(t.clock.pending).toBe(0);
  });

  test("has its 5 s without the pauses", async () => {
    const t = testKernel();
    const { sys, pid, proc } = await t.start();
    await sys.sigHandle(1, () => new Promise(() => {}));
    await t.init.kill(pid, 1);
    await t.clock.advance(4_000);
    await t.init.kill(pid, 4);
    await t.clock.advance(60_000);
    await t.init.kill(pid, 5);
    await t.clock.advance(999);
    expect(proc.ending.verdict).toBeNull();
    await t.clock.advance(1);
    expect(await t.init.wait(pid)).toEqual(EXIT.sigterm);
  });

  test("that ends in time leaves nothing behind, one that outlives its process neither", async () => {
    const t = testKernel();
    const { sys, pid, proc, end } = await t.start();
    const slow = Promise.withResolvers<void>();
    await sys.sigHandle(1, () => slow.promise);
    await sys.sigHandle(3, () => new Promise(() => {}));
    await t.init.kill(pid, 1);
    expect([t.clock.pending, proc.signals?.running]).toEqual([1, 1]);
    slow.resolve();
    await settle();
    expect([t.clock.pending, proc.signals?.running]).toEqual([0, 0]);
    await t.init.kill(pid, 3);
    end();
    expect(await t.init.wait(pid)).toEqual(EXIT.completed);
    expect(t.census()).toEqual(NOTHING_LEFT);
  });

  test("that fails when its process has ended changes nothing any more", async () => {
    const t = testKernel();
    const { sys, pid, proc, end } = await t.start();
    const slow = Promise.withResolvers<void>();
    await sys.sigHandle(4, () => slow.promise);
    await t.init.kill(pid, 4);
    end();
    await proc.done.promise;
    slow.reject(new Error("late"));
    await settle();
    expect(proc.isPaused).toBe(false);
    expect(t.journal.bodies("signal")).toHaveLength(1);
    expect(await t.init.wait(pid)).toEqual(EXIT.completed);
  });

  test("ends a pause, so that it can act; one of PAUSE replaces it", async () => {
    const t = testKernel();
    const { sys, pid, proc } = await t.start();
    await t.init.kill(pid, 4);
    const opened: number[] = [];
    for (const signal of [1, 3, 5] as const) {
      await t.init.kill(pid, 4);
      await sys.sigHandle(signal, async () => void opened.push(await sys.open("/dev/llm/fake", 2)));
      await t.init.kill(pid, signal);
      expect(proc.isPaused).toBe(false);
      await settle();
    }
    expect(opened).toEqual([4, 5, 6]);
    await t.init.kill(pid, 4);
    await sys.sigHandle(4, () => {});
    expect(await t.init.signal(pid, 4)).toBe("handler");
    expect(proc.isPaused).toBe(true);
  });

  test("may call what signals it again: each runs once, and none waits for another", async () => {
    const t = testKernel();
    const { sys, pid } = await t.start();
    const heard: Signal[] = [];
    await sys.sigHandle(1, async (signal) => {
      heard.push(signal);
      await sys.sigBlock(pid, 3);
      await sys.kill(pid, 3);
      await sys.sigUnblock(pid, 3);
    });
    await sys.sigHandle(3, (signal) => void heard.push(signal));
    await t.init.kill(pid, 1);
    await settle();
    expect(heard).toEqual([1, 3]);
  });

  test("beyond the bound is not begun: it is logged, and the default acts", async () => {
    const t = testKernel();
    const { sys, pid, proc } = await t.start();
    let runs = 0;
    await sys.sigHandle(4, () => {
      runs++;
      return new Promise(() => {});
    });
    for (let n = 0; n < LIMITS.handlersRunning; n++) void t.kernel.deliver(proc, 4);
    expect([runs, proc.isPaused]).toEqual([LIMITS.handlersRunning, false]);
    void t.kernel.deliver(proc, 4);
    expect(runs).toBe(LIMITS.handlersRunning);
    expect(proc.isPaused).toBe(true);
    await t.init.kill(pid, 2);
    await t.init.wait(pid);
    expect(t.census()).toEqual(NOTHING_LEFT);
  });
});
