import { expect, test } from "vitest";
import { microUsd, shownUsd } from "../usd.ts";
import { durationMs, spanMs } from "./span.ts";

test("durationMs() adds up what is written, and takes nothing else", () => {
  expect(["90s", "10m", "1h30m", "7d", "0s"].map(durationMs)).toEqual([
    90_000, 600_000, 5_400_000, 604_800_000, 0,
  ]);
  for (const text of ["", "10", "1.5h", "m", "1w", "-1m", "1m "]) expect(durationMs(text)).toBeUndefined();
});

test("spanMs() is one from a minute to 31 days", () => {
  expect([spanMs("59s"), spanMs("1m"), spanMs("31d"), spanMs("32d")]).toEqual([
    undefined,
    60_000,
    2_678_400_000,
    undefined,
  ]);
});

test("microUsd() rounds up, but not what is only noise of the arithmetic", () => {
  expect([0, 1, 0.000_02, 0.000_001_5, 0.1 + 0.2].map(microUsd)).toEqual([0, 1_000_000, 20, 2, 300_000]);
});

test("shownUsd() shows cents, and more where it is less", () => {
  expect([0, 1_500_000, 2_100, 20, 1].map(shownUsd)).toEqual([
    "$0.00",
    "$1.50",
    "$0.0021",
    "$0.000020",
    "$0.000001",
  ]);
});
