import { EventEmitter } from "node:events";
import { cachedDataVersionTag } from "node:v8";
import { expect, test, vi } from "vitest";
import { limitHeapGrowth } from "./heap-growth.ts";

test("limitHeapGrowth() takes effect after the start, and compiled code is loaded and kept without it", () => {
  vi.useFakeTimers();
  const exiting = new EventEmitter();
  try {
    const usual = cachedDataVersionTag();
    limitHeapGrowth(exiting);
    expect(cachedDataVersionTag()).toBe(usual);
    vi.advanceTimersByTime(60_000);
    expect(cachedDataVersionTag()).not.toBe(usual);
    exiting.emit("exit");
    expect(cachedDataVersionTag()).toBe(usual);
  } finally {
    exiting.emit("exit");
    vi.useRealTimers();
  }
});
