import { expect, test } from "vitest";
import { until } from "./until.ts";

const DAY_MS = 24 * 3_600_000;

test("until() is over in time whether the wall clock stays, is set back or ahead", () => {
  let [mono, jumpMs] = [0, 0];
  const clock = { now: () => 1_700_000_000_000 + mono + jumpMs, mono: () => mono };
  const left = until(clock.now() + 1_000, clock);
  expect(left()).toBe(1_000);
  mono = 400;
  jumpMs = -DAY_MS;
  expect(left()).toBe(600);
  mono = 1_000;
  expect(left()).toBe(0);
  [mono, jumpMs] = [400, DAY_MS];
  expect(left()).toBeLessThan(0);
});
