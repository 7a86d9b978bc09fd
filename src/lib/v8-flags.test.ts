import { getHeapStatistics } from "node:v8";
import { expect, test, vi } from "vitest";
import { keepHeapSmall } from "./v8-flags.ts";

const MIB = 2 ** 20;
const used = (): number => getHeapStatistics().used_heap_size;

/** What is in use while things are held that nobody holds afterwards. */
function filled(): number {
  const made = Array.from({ length: 100_000 }, (_, n) => ({ n, text: `text ${n}` }));
  return used() + 0 * made.length;
}

test("keepHeapSmall() collects what is there, and again what has come, until it is ended", () => {
  vi.useFakeTimers();
  // a small one, whatever the heap of the tests holds
  const end = keepHeapSmall(Number.POSITIVE_INFINITY);
  try {
    expect(globalThis).not.toHaveProperty("gc");
    const before = filled();
    vi.advanceTimersByTime(10_000);
    expect(used()).toBeLessThan(before - 2 * MIB);
    end();
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    end();
    vi.useRealTimers();
  }
});
