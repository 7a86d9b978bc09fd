import fc from "fast-check";
import { expect, test } from "vitest";
import { SIGNALS } from "../../abi/process.ts";
import { testKernel } from "../../kernel/testing/test-kernel.ts";
import { VirtualClock } from "../../kernel/testing/virtual-clock.ts";
import { ageMs } from "./age.ts";

const YEARS = 10 * 365 * 24 * 3600 * 1000;

test("ageMs() is never below 0 or what it ran, and the time of day by now is no part of it", () => {
  const wall = fc.integer({ min: -YEARS, max: YEARS });
  fc.assert(
    fc.property(wall, wall, fc.nat(), (createdAt, lastAt, ranMs) => {
      const age = ageMs({ createdAt }, { lastAt, ranMs });
      expect(age).toBeGreaterThanOrEqual(ranMs);
      expect(age).toBeLessThanOrEqual(Math.max(ranMs, Math.abs(lastAt - createdAt)));
    }),
  );
  expect(ageMs({ createdAt: 5 }, undefined)).toBe(0);
});

/** The machine's clock is set while no daemon runs. */
class SetClock extends VirtualClock {
  readonly #offsetMs: number;
  constructor(offsetMs: number) {
    super();
    this.#offsetMs = offsetMs;
  }
  override now(): number {
    return super.now() + this.#offsetMs;
  }
}

test.each([YEARS, -YEARS])(
  "a process that comes back after the clock was set by %d ms is as old as it was",
  async (offset) => {
    const t = testKernel();
    await t.start({ session: true });
    const paused = await t.start();
    const below = t.init.spawnSupervisor({ name: "shop", children: [{ id: "a", start: { intent: "a" } }] });
    t.programs.set("a", ({ ending }) => new Promise((_, reject) => ending.addEventListener("abort", reject)));
    const supervisor = await below;
    await t.clock.advance(40_000);
    t.journal.now = 40_000;
    await t.init.kill(paused.pid, SIGNALS.SIGPAUSE);
    await t.journal.sync();
    const clock = new SetClock(offset);
    const next = testKernel({ clock }, t.journal);
    await next.kernel.recover();
    const ageOf = (pid: number) => next.kernel.info(next.proc(pid)).elapsedMs;
    expect(ageOf(paused.pid)).toBe(40_000);
    expect(ageOf(supervisor)).toBeLessThanOrEqual(40_000);
    expect(ageOf(supervisor)).toBeGreaterThanOrEqual(0);
    await next.kernel.resume(1 as never);
    expect(ageOf(1)).toBeLessThanOrEqual(40_000);
    expect(ageOf(1)).toBeGreaterThanOrEqual(0);
    await next.kernel.abandon("over");
  },
);
