import { expect, it } from "vitest";
import { Inbox } from "./inbox.ts";

function inbox(window = 8) {
  const told: (number | string)[] = [];
  const made = new Inbox<string>({
    window,
    weigh: (text) => text.length,
    allow: (amount) => told.push(amount),
    leave: () => told.push("left"),
  });
  return { made, told };
}

it("makes room for more only once its reader asks for the next", async () => {
  const { made, told } = inbox();
  made.push("abc");
  made.push("de");
  const reader = made[Symbol.asyncIterator]();
  expect((await reader.next()).value).toBe("abc");
  expect(told).toEqual([]);
  await reader.next();
  expect(told).toEqual([3]);
  const waiting = reader.next();
  made.push("f");
  expect((await waiting).value).toBe("f");
  expect(told).toEqual([3, 2]);
});

it("makes room for an eighth of its window at a time", async () => {
  const { made, told } = inbox(40);
  for (const text of ["abc", "d", "ef", "g", "hijkl", ""]) made.push(text);
  const reader = made[Symbol.asyncIterator]();
  for (let n = 0; n < 6; n++) await reader.next();
  expect(told).toEqual([6, 6]);
});

it("gives what came before the end, then the end; the first end counts", async () => {
  const { made, told } = inbox();
  const seen: string[] = [];
  made.push("a");
  made.end(new Error("cut off"));
  made.end(null);
  await expect(
    (async () => {
      for await (const text of made) seen.push(text);
    })(),
  ).rejects.toThrow("cut off");
  expect([seen, told]).toEqual([["a"], [1]]);
});

it("tells when its reader leaves before the end, and not after it", async () => {
  const { made, told } = inbox();
  made.push("a");
  for await (const _ of made) break;
  expect(told).toEqual(["left"]);
  const ended = inbox();
  ended.made.end(null);
  for await (const _ of ended.made);
  expect(ended.told).toEqual([]);
});
