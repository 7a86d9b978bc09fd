import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Queue } from "./queue.ts";

const make = (drop: "oldest" | "newest", losable = (_: number) => true) =>
  new Queue<number>({ capacity: 4, drop, losable });

describe("Queue", () => {
  test("a reader that waits gets what is pushed, in order, then the end", async () => {
    const queue = make("newest");
    const read = Array.fromAsync(queue);
    for (const n of [1, 2]) {
      queue.push(n);
      await Promise.resolve();
    }
    queue.end();
    queue.push(3);
    expect(await read).toEqual([1, 2]);
  });

  test("close() forgets what is queued, wakes the reader and tells the owner once", async () => {
    let closed = 0;
    const queue = new Queue<number>({
      capacity: 4,
      drop: "newest",
      losable: () => true,
      onClose: () => closed++,
    });
    queue.push(1);
    queue.close();
    queue.close();
    expect([await Array.fromAsync(queue), closed]).toEqual([[], 1]);
    const waiting = make("newest");
    const read = Array.fromAsync(waiting);
    await Promise.resolve();
    waiting.close();
    expect(await read).toEqual([]);
  });

  test("holds at most its capacity; kept and dropped make up what was pushed", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(9)), fc.constantFrom("oldest", "newest"), async (items, drop) => {
        const queue = make(drop as "oldest" | "newest");
        for (const item of items) queue.push(item);
        queue.end();
        const kept = await Array.fromAsync(queue);
        expect(kept).toEqual(drop === "oldest" ? items.slice(-4) : items.slice(0, 4));
        expect(kept.length + queue.dropped).toBe(items.length);
      }),
    );
  });

  test("what may not be lost stays, whatever comes", async () => {
    const queue = make("oldest", (n) => n < 100);
    for (const n of [1, 100, 101, 2, 102, 103, 104, 3]) queue.push(n);
    queue.end();
    expect(await Array.fromAsync(queue)).toEqual([100, 101, 102, 103, 104]);
    expect(queue.dropped).toBe(3);
  });
});
