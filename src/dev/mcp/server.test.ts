import fc from "fast-check";
import { expect, test } from "vitest";
import { MCP_LIMITS } from "./limits.ts";
import { restartDelay } from "./server.ts";

/** Crashes `upMs` after each start, until it is given up; the delays. */
function delays(upMs: number, max = 20): number[] {
  const given: number[] = [];
  const restarts: number[] = [];
  for (let nowMs = 0, inRow = 1; given.length < max; inRow++) {
    nowMs += upMs;
    const delay = restartDelay({ restarts, inRow }, nowMs);
    if (delay === null) break;
    given.push(delay);
    nowMs += delay;
    restarts.push(nowMs);
  }
  return given;
}

test("a server that ends at once is started after 1, 2, 4, 8, 16 s, then given up", () => {
  expect(delays(50)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000]);
});

test("one that stays up for a while goes on, ever slower, at most 30 s apart", () => {
  expect(delays(14_000, 8)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
});

test("no window ever has more than five restarts", () => {
  const ups = fc.array(fc.nat({ max: 40_000 }), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(ups, (uptimes) => {
      const restarts: number[] = [];
      let nowMs = 0;
      for (const [i, upMs] of uptimes.entries()) {
        nowMs += upMs;
        const delay = restartDelay({ restarts, inRow: i + 1 }, nowMs);
        if (delay === null) break;
        expect(delay).toBeGreaterThanOrEqual(MCP_LIMITS.backoffMs);
        expect(delay).toBeLessThanOrEqual(MCP_LIMITS.maxBackoffMs);
        nowMs += delay;
        restarts.push(nowMs);
        const window = restarts.filter((at) => at > nowMs - MCP_LIMITS.restartWindowMs);
        expect(window.length).toBeLessThanOrEqual(MCP_LIMITS.restarts);
      }
    }),
    { numRuns: 10_000 },
  );
});
