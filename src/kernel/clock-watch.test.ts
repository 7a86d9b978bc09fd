/** Ten minutes in which nothing ran, and a wall clock that jumps by years: no process is the worse for it. */
import { beforeEach, describe, expect, test } from "vitest";
import { FakeMachine } from "../lib/testing/fake-machine.ts";
import { SteadyClock } from "../lib/time/steady-clock.ts";
import { type TestKernel, testKernel } from "./testing/test-kernel.ts";

const MINUTE = 60_000;
const YEAR = 365 * 24 * 60 * MINUTE;

let machine: FakeMachine;
let t: TestKernel;
beforeEach(() => {
  machine = new FakeMachine();
  const clock = new SteadyClock(machine);
  t = testKernel({ clock, gaps: clock });
});

describe("frozen for ten minutes", () => {
  test("no deadline, no grace and no wait of a process comes to its end", async () => {
    const timed = await t.start({ timeoutMs: 5 * MINUTE });
    const dying = await t.start({ stubborn: true });
    const reader = await t.start();
    let heard: unknown = "waits";
    reader.sys.recv({ timeoutMs: 30_000 }).catch((error: unknown) => {
      heard = error;
    });
    await machine.advance(2_000);
    await t.kernel.deliver(dying.proc, 1);
    await machine.advance(1_000);
    await machine.freeze(10 * MINUTE);
    expect([timed.proc.ending.verdict, dying.proc.state, heard]).toEqual([null, "running", "waits"]);
    // what each had left it has now
    await machine.advance(8_000);
    expect(dying.proc.state).toBe("running");
    await machine.advance(3_000);
    expect(dying.proc.exit).toMatchObject({ code: 137 });
    await machine.advance(20_000);
    expect(heard).toMatchObject({ code: "TIMEOUT" });
    expect(timed.proc.ending.verdict).toBeNull();
    await machine.advance(5 * MINUTE);
    expect(timed.proc.ending.verdict).toMatchObject({ reason: "timeout" });
  });

  test("is told once, in the kernel's history and in the log", async () => {
    await t.start();
    await machine.advance(2_500);
    await machine.freeze(10 * MINUTE);
    await machine.advance(10_000);
    expect(t.journal.bodies("kernel.clock")).toEqual([{ gapMs: 10 * MINUTE + 500, jumpMs: 0 }]);
    expect(t.logs).toEqual(["warn: clock: nothing ran for 600.5 s: no deadline counts that time"]);
  });
});

describe("a wall clock that jumps", () => {
  test.each([10 * YEAR, -10 * YEAR])(
    "by %d ms ends nothing, and all times of a process stay sane",
    async (by) => {
      const { proc } = await t.start({ timeoutMs: MINUTE });
      await machine.advance(10_000);
      machine.jump(by);
      machine.wakeups = 0;
      await machine.advance(20_000);
      expect([proc.ending.verdict, t.kernel.info(proc).elapsedMs]).toEqual([null, 30_000]);
      expect(machine.wakeups).toBeLessThanOrEqual(21);
      expect(t.journal.bodies("kernel.clock")).toEqual([{ gapMs: 0, jumpMs: by }]);
      expect(t.logs[0]).toMatch(/^warn: clock: the wall clock went (ahead|back) by 315360000 s$/);
      await machine.advance(30_000);
      expect(proc.ending.verdict).toMatchObject({ reason: "timeout" });
    },
  );
});

describe("while no process lives", () => {
  test("nobody looks: no timer is left, and none wakes the daemon", async () => {
    const [first, second] = [await t.start(), await t.start()];
    expect(machine.pending(false)).toBe(1);
    first.end();
    await machine.advance(100);
    expect(machine.pending(false)).toBe(1);
    second.end();
    await machine.advance(2 * MINUTE);
    expect(machine.pending()).toBe(0);
    machine.wakeups = 0;
    await machine.advance(60 * MINUTE);
    expect(machine.wakeups).toBe(0);
  });
});
