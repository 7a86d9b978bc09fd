import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DEFAULT_BACKOFF } from "../abi/supervise.ts";
import { backoffMs, rowAfter } from "./backoff.ts";

describe("backoffMs()", () => {
  test("doubles to its greatest", () => {
    const waits = [0, 1, 2, 3, 4, 5, 6, 1_000].map((n) => backoffMs(DEFAULT_BACKOFF, n, 0.5));
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  });

  test("is none where none is wished, however often", () => {
    expect(backoffMs({ ...DEFAULT_BACKOFF, initialMs: 0 }, 10_000, 0.9)).toBe(0);
  });

  test("its jitter stays within its share, both ways", () => {
    const backoff = fc.record({
      initialMs: fc.nat(100_000),
      factor: fc.double({ min: 1, max: 10, noNaN: true }),
      maxMs: fc.nat(1_000_000),
      jitter: fc.double({ min: 0, max: 1, noNaN: true }),
    });
    fc.assert(
      fc.property(backoff, fc.nat(50), fc.double({ min: 0, max: 1, noNaN: true }), (given, n, random) => {
        const base = backoffMs({ ...given, jitter: 0 }, n, random);
        const wait = backoffMs(given, n, random);
        expect(base).toBeLessThanOrEqual(given.maxMs);
        // both are rounded, and the jitter is of what the base was before: half a millisecond each
        expect(Math.abs(wait - base)).toBeLessThanOrEqual((base + 0.5) * given.jitter + 1.001);
      }),
      { numRuns: 10_000 },
    );
  });

  test("a run of a window ends the row", () => {
    expect([rowAfter(3, 59_999, 60_000), rowAfter(3, 60_000, 60_000)]).toEqual([3, 0]);
  });
});
