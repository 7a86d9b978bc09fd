import { getEventListeners } from "node:events";
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { FakeMachine } from "../testing/fake-machine.ts";
import { type Gap, SteadyClock } from "./steady-clock.ts";

const MINUTE = 60_000;
const YEAR = 365 * 24 * 3_600_000;

let machine: FakeMachine;
let clock: SteadyClock;
let gaps: Gap[];
beforeEach(() => {
  machine = new FakeMachine();
  clock = new SteadyClock(machine);
  gaps = [];
  clock.onGap((gap) => gaps.push(gap));
});

/** Becomes true when the sleep is over. */
function asleep(ms: number, signal?: AbortSignal): { isOver: boolean } {
  const state = { isOver: false };
  clock.sleep(ms, signal).then(
    () => {
      state.isOver = true;
    },
    () => {},
  );
  return state;
}

describe("SteadyClock.sleep()", () => {
  it("ends after its time, not before, with one wakeup and no timer left", async () => {
    const sleep = asleep(500);
    await machine.advance(499);
    expect([sleep.isOver, machine.pending()]).toEqual([false, 1]);
    await machine.advance(1);
    expect([sleep.isOver, machine.pending(), machine.wakeups]).toEqual([true, 0, 1]);
  });

  it("rejects with the signal's reason, and leaves neither timer nor listener", async () => {
    const stop = new AbortController();
    const reason = new Error("enough");
    const sleep = clock.sleep(500, stop.signal);
    stop.abort(reason);
    await expect(sleep).rejects.toBe(reason);
    expect([machine.pending(), getEventListeners(stop.signal, "abort").length]).toEqual([0, 0]);
  });

  it("is as long as it is asked for, beyond what a timer takes too", async () => {
    const sleep = asleep(YEAR);
    await machine.advance(YEAR - 1);
    expect(sleep.isOver).toBe(false);
    await machine.advance(1);
    expect(sleep.isOver).toBe(true);
    expect(machine.wakeups).toBeLessThan(20);
  });
});

describe("SteadyClock, frozen for ten minutes", () => {
  it("watched: no deadline burns a second of it, and each has what it had left", async () => {
    const end = clock.watch();
    const [soon, long] = [asleep(30_000), asleep(5 * MINUTE)];
    await machine.advance(20_000);
    const before = clock.mono();
    await machine.freeze(10 * MINUTE);
    expect([soon.isOver, long.isOver]).toEqual([false, false]);
    expect(clock.mono() - before).toBeLessThanOrEqual(1_000);
    await machine.advance(9_000);
    expect(soon.isOver).toBe(false);
    await machine.advance(2_000);
    expect([soon.isOver, long.isOver]).toEqual([true, false]);
    await machine.advance(5 * MINUTE);
    expect(long.isOver).toBe(true);
    end();
    expect([machine.pending(), gaps]).toEqual([0, [{ gapMs: expect.any(Number), jumpMs: 0 }]]);
    expect(gaps[0]?.gapMs).toBeGreaterThan(10 * MINUTE - 1_500);
  });

  it("one that was due at once gets a grace, but no more than it had in all", async () => {
    const end = clock.watch();
    const almost = asleep(90_000);
    await machine.advance(89_990);
    const short = asleep(20);
    await machine.freeze(10 * MINUTE);
    expect([almost.isOver, short.isOver]).toEqual([false, false]);
    await machine.advance(20);
    expect([almost.isOver, short.isOver]).toEqual([false, true]);
    await machine.advance(1_900);
    expect(almost.isOver).toBe(false);
    await machine.advance(100);
    expect(almost.isOver).toBe(true);
    end();
  });

  it("unwatched: a sleep that ends late tells of it, once for all of them", async () => {
    const [check, other] = [asleep(5_000), asleep(20_000)];
    await machine.advance(2_000);
    await machine.freeze(10 * MINUTE);
    expect(gaps).toEqual([{ gapMs: 10 * MINUTE - 3_000, jumpMs: 0 }]);
    await machine.advance(2_000);
    expect([check.isOver, other.isOver]).toEqual([true, false]);
    await machine.advance(20_000);
    expect([other.isOver, gaps.length]).toEqual([true, 1]);
  });

  it("wakes once for each sleep, and then not before it is due", async () => {
    const end = clock.watch();
    for (let n = 0; n < 50; n++) asleep(20_000 + n);
    await machine.advance(1_500);
    machine.wakeups = 0;
    await machine.freeze(10 * MINUTE);
    expect(machine.wakeups).toBeLessThanOrEqual(52);
    machine.wakeups = 0;
    await machine.advance(10_000);
    expect(machine.wakeups).toBeLessThanOrEqual(11);
    end();
  });

  it("whatever was asked and however often it froze, nothing ends before so much time was run", async () => {
    const step = fc.record({ freeze: fc.boolean(), ms: fc.integer({ min: 1, max: 60_000 }) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 8 }),
        fc.integer({ min: 1, max: 90_000 }),
        fc.boolean(),
        async (steps, ms, isWatched) => {
          const each = new FakeMachine();
          const own = new SteadyClock(each);
          if (isWatched) own.watch();
          let ranMs = 0;
          let endedAt: number | undefined;
          let last = own.mono();
          void own.sleep(ms).then(() => {
            endedAt = ranMs;
          });
          for (const { freeze, ms: by } of steps) {
            if (freeze && by > 7_000) await each.freeze(by);
            else {
              ranMs += by;
              await each.advance(by);
            }
            expect(own.mono()).toBeGreaterThanOrEqual(last);
            last = own.mono();
          }
          // ranMs is counted ahead of each step; a gap is known to a second when watched
          if (isWatched && endedAt !== undefined) expect(endedAt).toBeGreaterThanOrEqual(ms - 1);
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe("SteadyClock, when the wall clock jumps", () => {
  it.each([YEAR * 10, -YEAR * 10])("by %d ms: told once, no timer fires, no second is lost", async (by) => {
    const end = clock.watch();
    const sleep = asleep(MINUTE);
    await machine.advance(10_000);
    const before = clock.mono();
    machine.jump(by);
    machine.wakeups = 0;
    await machine.advance(10_000);
    expect(gaps).toEqual([{ gapMs: 0, jumpMs: by }]);
    expect([sleep.isOver, clock.mono() - before]).toEqual([false, 10_000]);
    expect(machine.wakeups).toBeLessThanOrEqual(11);
    end();
  });

  it("a suspended machine, whose monotonic clock stood still, is told as a jump", async () => {
    const end = clock.watch();
    await machine.advance(3_000);
    machine.jump(8 * 3_600_000);
    await machine.advance(1_000);
    expect(gaps).toEqual([{ gapMs: 0, jumpMs: 8 * 3_600_000 }]);
    end();
  });

  it("a clock that is slowly set right is no jump", async () => {
    const end = clock.watch();
    for (let second = 0; second < 60; second++) {
      machine.jump(200);
      await machine.advance(1_000);
    }
    expect(gaps).toEqual([]);
    end();
  });
});

describe("SteadyClock.watch()", () => {
  it("ticks once a second while anybody watches, and keeps no program alive", async () => {
    const [first, second] = [clock.watch(), clock.watch()];
    expect([machine.pending(true), machine.pending(false)]).toEqual([0, 1]);
    first();
    first();
    await machine.advance(5_000);
    expect(machine.wakeups).toBe(5);
    second();
    expect(machine.pending()).toBe(0);
    clock.watch()();
    expect(machine.pending()).toBe(0);
  });
});
