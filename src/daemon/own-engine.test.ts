import { spawnSync } from "node:child_process";
import { cachedDataVersionTag, setFlagsFromString } from "node:v8";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { setFlag, underUsualFlags } from "../lib/v8-flags.ts";
import { keepInRounds, releaseUnused, tuneOnceLoaded } from "./own-engine.ts";

const MB = 1024 * 1024;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test("releaseUnused() asks when memory has grown, and again only when it grows from what was left", () => {
  let bytes = 100 * MB;
  const release = vi.fn(() => {
    bytes -= 15 * MB;
  });
  releaseUnused({ bytes: () => bytes, release });
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

test("releaseUnused() outlives a time without descriptors, in which memory cannot be looked at", () => {
  let bytes = 100 * MB;
  const release = vi.fn();
  const look = vi.fn(() => bytes);
  releaseUnused({ bytes: look, release });
  look.mockImplementation(() => {
    throw new Error("EMFILE: too many open files");
  });
  vi.advanceTimersByTime(10_000);
  look.mockImplementation(() => bytes);
  bytes = 120 * MB;
  vi.advanceTimersByTime(10_000);
  expect(release).toHaveBeenCalledTimes(1);
});

test("tuneOnceLoaded() takes effect after the start, and compiled code is loaded and kept without it", () => {
  // other tests of the same worker may have set flags
  const usual = underUsualFlags(cachedDataVersionTag);
  const now = cachedDataVersionTag();
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

/** In a process of its own: what the young heaps of a daemon and of a thread hold after much garbage, and whether compiled code stays valid. */
const YOUNG = `
  import { Worker } from "node:worker_threads";
  import v8 from "node:v8";
  const { leaveThreadsTheirLimits } = await import(${JSON.stringify(new URL("./own-engine.ts", import.meta.url).href)});
  const young = (v8) => {
    for (let n = 0, held = []; n < 1e6; n++) (held = n % 5_000 === 0 ? [] : held).push({ n });
    return v8.getHeapSpaceStatistics().find((space) => space.space_name === "new_space").physical_space_size;
  };
  const before = v8.cachedDataVersionTag();
  leaveThreadsTheirLimits();
  const program = "require('node:worker_threads').parentPort.postMessage((" + young + ")(require('node:v8')))";
  const resourceLimits = { maxYoungGenerationSizeMb: 2, maxOldGenerationSizeMb: 64 };
  new Worker(program, { eval: true, execArgv: [], resourceLimits }).on("message", (thread) =>
    console.log(JSON.stringify({ own: young(v8), thread, isSame: v8.cachedDataVersionTag() === before })),
  );
`;

test("leaveThreadsTheirLimits() leaves the heap of the daemon as it was started, and compiled code valid", () => {
  const sizes = ["--min-semi-space-size=4", "--max-semi-space-size=4"];
  const argv = [...sizes, "--input-type=module", "-e", YOUNG];
  const { stdout, stderr } = spawnSync(process.execPath, argv, { encoding: "utf8" });
  const told = JSON.parse(stdout || JSON.stringify(stderr));
  expect(told).toMatchObject({ isSame: true });
  expect(told.own).toBeGreaterThan(4 * MB);
  expect(told.thread).toBeLessThan(3 * MB);
});

function* threeFiles(kept: string[]): Generator<undefined, void> {
  for (const name of ["one", "two", "three"]) {
    kept.push(name);
    yield;
  }
}

test("keepInRounds() keeps one file in a round of the event loop, once what came first has been done", () => {
  const kept: string[] = [];
  const held = { bytes: () => 0, release: () => kept.push("given back") };
  keepInRounds(threeFiles(kept), () => true, held);
  vi.advanceTimersByTime(19_999);
  expect(kept).toEqual([]);
  vi.advanceTimersToNextTimer();
  expect(kept).toEqual(["one"]);
  vi.advanceTimersToNextTimer();
  expect(kept).toEqual(["one", "two"]);
  vi.advanceTimersByTime(10_000);
  expect([kept, vi.getTimerCount()]).toEqual([["one", "two", "three", "given back"], 0]);
});

test("keepInRounds() outlives a time without descriptors, in which nothing can be given back", () => {
  const kept: string[] = [];
  const release = vi.fn(() => {
    throw new Error("EMFILE: too many open files");
  });
  keepInRounds(threeFiles(kept), () => true, { bytes: () => 0, release });
  vi.advanceTimersByTime(60_000);
  expect([kept.length, release.mock.calls.length]).toEqual([3, 1]);
});

test("keepInRounds() waits for a quiet second", () => {
  const kept: string[] = [];
  let quiet = false;
  keepInRounds(threeFiles(kept), () => quiet);
  vi.advanceTimersByTime(40_000);
  expect(kept).toEqual([]);
  quiet = true;
  vi.advanceTimersByTime(2_000);
  expect(kept).toHaveLength(3);
});

test("keepInRounds() keeps the rest of a daemon that ends at once, and nothing of it twice", () => {
  const kept: string[] = [];
  const keepRest = keepInRounds(threeFiles(kept), () => true);
  vi.advanceTimersToNextTimer();
  keepRest();
  keepRest();
  vi.advanceTimersByTime(60_000);
  expect(kept).toEqual(["one", "two", "three"]);
});

test("keepInRounds() takes the flags back that were set meanwhile, under which V8 would not take the code again", () => {
  const usual = underUsualFlags(cachedDataVersionTag);
  const tags: number[] = [];
  const file = { next: () => ({ done: tags.push(cachedDataVersionTag()) > 1, value: undefined }) };
  try {
    keepInRounds(file, () => true);
    setFlag("--heap-growing-percent=30", "--heap-growing-percent=0");
    vi.advanceTimersByTime(60_000);
    expect(tags).toEqual([usual, usual]);
    expect(cachedDataVersionTag()).not.toBe(usual);
  } finally {
    setFlagsFromString("--heap-growing-percent=0");
  }
});
