import fc from "fast-check";
import { expect, test } from "vitest";
import { LEAST_WINDOW, thresholds } from "./window.ts";

test("thresholds() has the documented numbers for a window of 200,000", () => {
  const { effective, warn, auto, block } = thresholds(200_000, 64_000, true);
  expect([effective, warn, auto, block]).toEqual([180_000, 147_000, 167_000, 177_000]);
  expect(thresholds(200_000, 64_000, false)).toMatchObject({ warn: 157_000, auto: null, block: 177_000 });
  expect(thresholds(200_000, 8_000, true).effective).toBe(192_000);
});

test("thresholds() keeps their order for every window", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: LEAST_WINDOW, max: 2_000_000 }),
      fc.integer({ min: 1, max: 200_000 }),
      (window, maxOutput) => {
        const { effective, warn, auto, block } = thresholds(window, maxOutput, true);
        expect(warn).toBeGreaterThan(0);
        expect(auto).toBeGreaterThan(warn);
        expect(block).toBeGreaterThan(auto ?? 0);
        expect(effective).toBeGreaterThan(block);
        expect(window).toBeGreaterThan(effective);
      },
    ),
  );
});
