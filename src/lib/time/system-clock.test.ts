import { getEventListeners } from "node:events";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { systemClock } from "./system-clock.ts";

describe("systemClock.sleep()", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("ends after its time, not before, and leaves nothing on the signal", async () => {
    const { signal } = new AbortController();
    let isOver = false;
    const sleep = systemClock.sleep(50, signal).then(() => {
      isOver = true;
    });
    await vi.advanceTimersByTimeAsync(49);
    expect(isOver).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await sleep;
    expect([vi.getTimerCount(), getEventListeners(signal, "abort").length]).toEqual([0, 0]);
  });

  it("rejects with the signal's reason, and leaves no timer", async () => {
    const stop = new AbortController();
    const reason = new Error("enough");
    const sleep = systemClock.sleep(50, stop.signal);
    stop.abort(reason);
    await expect(sleep).rejects.toBe(reason);
    await expect(systemClock.sleep(50, stop.signal)).rejects.toBe(reason);
    expect(vi.getTimerCount()).toBe(0);
  });
});
