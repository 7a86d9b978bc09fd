import { describe, expect, test } from "vitest";
import { printed } from "../../abi/errors.ts";
import { asFd, asPid } from "../../abi/ids.ts";
import type { Signal } from "../../abi/process.ts";
import { hangingDevice } from "../testing/fake-devices.ts";
import { bytes, NOTHING_LEFT, testKernel } from "../testing/test-kernel.ts";

describe("kill()", () => {
  test.each([0, 6, 1.5, -1, Number.NaN])("%d is INVALID", async (signal) => {
    const t = testKernel();
    const { pid } = await t.start();
    await expect(t.init.kill(pid, signal as Signal)).rejects.toMatchObject({ code: "INVALID" });
  });

  test("an unknown pid is NOT_FOUND in these words", async () => {
    const t = testKernel();
    const error = await t.init.kill(asPid(9), 1).catch((e: unknown) => e);
    expect(printed(error)).toBe("[NOT_FOUND] PID 0 Kill: process not found: 9");
  });

  test("what the caller does not see is NOT_FOUND, what it does not control PERMISSION", async () => {
    const t = testKernel();
    const [parent, stranger] = [await t.start(), await t.start()];
    const child = await t.start({ by: parent.sys });
    await expect(stranger.sys.kill(child.pid, 1)).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(child.sys.kill(parent.pid, 1)).rejects.toMatchObject({ code: "PERMISSION" });
    await parent.sys.kill(child.pid, 1);
    expect((await parent.sys.wait(child.pid)).code).toBe(143);
  });

  test.each([1, 2, 3, 4, 5] as const)("%i of a zombie is nothing", async (signal) => {
    const t = testKernel();
    const { pid, proc, end } = await t.start();
    end();
    await proc.done.promise;
    await t.init.kill(pid, signal);
    expect(proc.info(0)).toMatchObject({ state: "zombie", exit: { code: 0 }, activity: null });
    expect(t.journal.kinds()).not.toContain("signal");
  });

  test.each([
    [1, { code: 143, reason: "killed: SIGTERM", kind: "killed" }],
    [2, { code: 137, reason: "killed: SIGKILL", kind: "killed" }],
    [3, { code: 130, reason: "killed: SIGINT", kind: "killed" }],
  ] as const)("%i ends with its status", async (signal, exit) => {
    const t = testKernel();
    const { pid } = await t.start();
    await t.init.kill(pid, signal);
    expect(await t.init.wait(pid)).toEqual(exit);
    expect(t.census()).toEqual(NOTHING_LEFT);
  });

  test("TERM ends a hanging model call, at no time of the clock", async () => {
    const t = testKernel({ models: { resolve: async () => ({ device: "/dev/hang", model: "" }) } });
    const device = hangingDevice();
    t.kernel.mount("/dev/hang", device);
    const { pid, sys } = await t.start();
    const call = expect(sys.write(asFd(3), bytes("{}"))).rejects.toMatchObject({ code: "CANCELLED" });
    await t.init.kill(pid, 1);
    await call;
    expect((await t.init.wait(pid)).code).toBe(143);
    expect([t.clock.mono(), device.live]).toEqual([0, 0]);
  });

  test("TERM not heeded becomes KILL after 10 s, however often it is sent", async () => {
    const t = testKernel();
    const { pid, proc } = await t.start({ stubborn: true });
    await t.init.kill(pid, 1);
    await t.clock.advance(1_000);
    await t.init.kill(pid, 1);
    await t.init.kill(pid, 1);
    expect(t.clock.pending).toBe(1);
    await t.clock.advance(8_999);
    expect(proc.state).toBe("running");
    await t.clock.advance(1);
    expect(proc.exit).toMatchObject({ code: 137, reason: "killed: SIGKILL" });
  });

  test("KILL outranks TERM; TERM does not outrank INT", async () => {
    const t = testKernel();
    const a = await t.start({ stubborn: true });
    await t.init.kill(a.pid, 1);
    await t.init.kill(a.pid, 2);
    expect((await a.proc.done.promise).code).toBe(137);
    const b = await t.start();
    await t.init.kill(b.pid, 3);
    await t.init.kill(b.pid, 1);
    expect((await b.proc.done.promise).code).toBe(130);
  });

  test("KILL revokes the handle before it returns", async () => {
    const t = testKernel();
    const { pid, sys } = await t.start({ stubborn: true });
    await t.init.kill(pid, 2);
    await expect(sys.listProcs()).rejects.toMatchObject({ code: "CANCELLED" });
  });

  test("during the finish changes nothing", async () => {
    const t = testKernel();
    const { pid, proc, end } = await t.start();
    const gate = Promise.withResolvers<void>();
    t.journal.gate = gate.promise;
    end();
    await t.clock.advance(0);
    expect(proc.finishing).not.toBeNull();
    await t.init.kill(pid, 1);
    await t.init.kill(pid, 2);
    await expect(t.init.reap(pid)).rejects.toMatchObject({ code: "CONFLICT" });
    gate.resolve();
    expect((await t.init.wait(pid)).code).toBe(0);
    expect(t.clock.pending).toBe(0);
  });
});

describe("pause", () => {
  test("holds at the next step until resume; twice is once", async () => {
    const t = testKernel();
    const { pid, context } = await t.start();
    await t.init.kill(pid, 4);
    await t.init.kill(pid, 4);
    let passed = false;
    const held = context.waitIfPaused().then(() => {
      passed = true;
    });
    await t.clock.advance(1_000);
    expect(passed).toBe(false);
    await t.init.kill(pid, 5);
    await held;
    await t.init.kill(pid, 5);
    await context.waitIfPaused();
  });

  test.each([
    [1, 143],
    [2, 137],
    [3, 130],
  ] as const)("ends with %i: exit %i, and no step is taken", async (signal, code) => {
    const t = testKernel();
    let steps = 0;
    t.programs.set("a", async ({ waitIfPaused, signal: ended }) => {
      await new Promise((resolve) => setImmediate(resolve));
      await waitIfPaused();
      if (!ended.aborted) steps++;
      return { code: 0, reason: "completed", kind: "done" };
    });
    const pid = await t.init.spawn("a", null);
    await t.init.kill(pid, 4);
    await t.clock.advance(0);
    await t.init.kill(pid, signal);
    expect((await t.init.wait(pid)).code).toBe(code);
    expect(steps).toBe(0);
  });
});
