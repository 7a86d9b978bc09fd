import { cachedDataVersionTag, setFlagsFromString } from "node:v8";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { setFlag, underUsualFlags } from "../lib/v8-flags.ts";
import { keepInRounds } from "./own-code.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function* threeFiles(kept: string[]): Generator<undefined, void> {
  for (const name of ["one", "two", "three"]) {
    kept.push(name);
    yield;
  }
}

test("keepInRounds() keeps one file in a round of the event loop, once what came first has been done", () => {
  const kept: string[] = [];
  keepInRounds(threeFiles(kept), () => true);
  vi.advanceTimersByTime(19_999);
  expect(kept).toEqual([]);
  vi.advanceTimersToNextTimer();
  expect(kept).toEqual(["one"]);
  vi.advanceTimersToNextTimer();
  expect(kept).toEqual(["one", "two"]);
  vi.advanceTimersByTime(10_000);
  expect([kept, vi.getTimerCount()]).toEqual([["one", "two", "three"], 0]);
});

test("keepInRounds() waits for a quiet second, at most until ten minutes after the start", () => {
  const kept: string[] = [];
  let quiet = false;
  keepInRounds(threeFiles(kept), () => quiet);
  vi.advanceTimersByTime(40_000);
  expect(kept).toEqual([]);
  quiet = true;
  vi.advanceTimersByTime(2_000);
  expect(kept).toHaveLength(3);
  const late: string[] = [];
  keepInRounds(threeFiles(late), () => false);
  vi.advanceTimersByTime(599_000);
  expect(late).toEqual([]);
  vi.advanceTimersByTime(2_000);
  expect(late).toHaveLength(3);
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
