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
  keepInRounds(threeFiles(kept));
  vi.advanceTimersByTime(10_000);
  expect(kept).toEqual([]);
  vi.advanceTimersToNextTimer();
  expect(kept).toEqual(["one"]);
  vi.advanceTimersToNextTimer();
  expect(kept).toEqual(["one", "two"]);
  vi.advanceTimersByTime(10_000);
  expect([kept, vi.getTimerCount()]).toEqual([["one", "two", "three"], 0]);
});

test("keepInRounds() keeps the rest of a daemon that ends at once, and nothing of it twice", () => {
  const kept: string[] = [];
  const keepRest = keepInRounds(threeFiles(kept));
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
    keepInRounds(file);
    setFlag("--heap-growing-percent=30", "--heap-growing-percent=0");
    vi.advanceTimersByTime(60_000);
    expect(tags).toEqual([usual, usual]);
    expect(cachedDataVersionTag()).not.toBe(usual);
  } finally {
    setFlagsFromString("--heap-growing-percent=0");
  }
});
