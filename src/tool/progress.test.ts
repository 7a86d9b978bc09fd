import { expect, test } from "vitest";
import { ProgressFeed } from "./progress.ts";

/** A clock that a test moves by hand. */
function clock() {
  const waiting: (() => void)[] = [];
  return {
    sleep: (_ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        waiting.push(resolve);
        signal?.addEventListener("abort", () => reject(new Error("ended")));
      }),
    async second() {
      for (const wake of waiting.splice(0)) wake();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

const read = (feed: ProgressFeed) => JSON.parse(feed.take()?.toString() ?? "null") as unknown;

test("ProgressFeed gives the first frame at once, then the newest of each second", async () => {
  const time = clock();
  const feed = new ProgressFeed(time);
  feed.tell({ n: 1 });
  await feed.changed;
  expect(read(feed)).toEqual({ type: "progress", n: 1 });
  feed.tell({ n: 2 });
  feed.tell({ n: 3 });
  expect(read(feed)).toBeNull();
  await time.second();
  await feed.changed;
  expect(read(feed)).toEqual({ type: "progress", n: 3 });
  await time.second();
  expect(read(feed)).toBeNull();
});

test("ProgressFeed tells what is due, read or not", async () => {
  const time = clock();
  const told: unknown[] = [];
  const feed = new ProgressFeed(time, (each) => told.push(each));
  for (const n of [1, 2, 3]) feed.tell({ n });
  await time.second();
  feed.tell({ n: 4 });
  feed.end();
  await time.second();
  expect(told).toEqual([{ n: 1 }, { n: 3 }]);
});

test("ProgressFeed: who reads slowly gets the newest; at the end what was not read is dropped, and waiting ends", async () => {
  const time = clock();
  const feed = new ProgressFeed(time);
  feed.tell({ n: 1 });
  await time.second();
  feed.tell({ n: 2 });
  expect(read(feed)).toMatchObject({ n: 2 });
  const waiting = feed.changed;
  feed.end();
  await waiting;
  feed.tell({ n: 3 });
  expect(read(feed)).toBeNull();
});
