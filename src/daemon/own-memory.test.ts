import { cachedDataVersionTag, setFlagsFromString } from "node:v8";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { underUsualFlags } from "../lib/v8-flags.ts";
import { releaseFreeMemory, tuneOnceLoaded } from "./own-memory.ts";

const MB = 1024 * 1024;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test("releaseFreeMemory() asks when memory has grown, and again only when it grows from what was left", () => {
  let bytes = 100 * MB;
  const release = vi.fn(() => {
    bytes -= 15 * MB;
  });
  releaseFreeMemory({ bytes: () => bytes, release });
  vi.advanceTimersByTime(60_000);
  expect(release).not.toHaveBeenCalled();

  bytes = 120 * MB;
  vi.advanceTimersByTime(60_000);
  expect([release.mock.calls.length, bytes]).toEqual([1, 105 * MB]);

  bytes = 112 * MB;
  vi.advanceTimersByTime(60_000);
  expect(release).toHaveBeenCalledTimes(1);
  bytes = 114 * MB;
  vi.advanceTimersByTime(60_000);
  expect(release).toHaveBeenCalledTimes(2);
});

test("tuneOnceLoaded() takes effect after the start, and compiled code is loaded and kept without it", () => {
  // other tests of the same worker may have set flags
  const [now, usual] = [cachedDataVersionTag(), underUsualFlags(cachedDataVersionTag)];
  try {
    tuneOnceLoaded();
    expect(cachedDataVersionTag()).toBe(now);
    vi.advanceTimersByTime(60_000);
    expect(cachedDataVersionTag()).not.toBe(now);
    expect(underUsualFlags(cachedDataVersionTag)).toBe(usual);
    expect(cachedDataVersionTag()).not.toBe(now);
  } finally {
    const usually = ["heap-growing-percent=0", "invocation-count-for-maglev=400"];
    const later = [
      "minimum-invocations-after-ic-update=500",
      "max-maglev-inlined-bytecode-size-cumulative=920",
    ];
    for (const flag of [...usually, ...later]) setFlagsFromString(`--${flag}`);
  }
});
