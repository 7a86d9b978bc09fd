import { expect, test } from "vitest";
import { PrintedLines } from "./printed-lines.ts";

/** A terminal that takes the next text when it is told to. */
function aTerminal() {
  const texts: string[] = [];
  let take = (): void => {};
  const print = (text: string): Promise<void> =>
    new Promise((done) => {
      texts.push(text);
      take = done;
    });
  const taken = async (): Promise<void> => {
    take();
    await new Promise((soon) => setImmediate(soon));
  };
  return { texts, print, take: taken };
}

test("whole lines are printed as they come, and the rest at the end", async () => {
  const { texts, print, take } = aTerminal();
  const printed = new PrintedLines(print, String);
  printed.add("one\ntw");
  expect(texts).toEqual(["one"]);
  printed.add("o\r\n\n10%\r20%\rdone\r\nmore");
  await take();
  expect(texts).toEqual(["one", "two\n\ndone"]);
  await take();
  const ended = printed.end();
  await take();
  await take();
  await ended;
  expect(texts).toEqual(["one", "two\n\ndone", "more"]);
});

test("of a command that is faster than the terminal the end is printed, after how much is left out", async () => {
  const { texts, print, take } = aTerminal();
  const printed = new PrintedLines(print, (count) => `(${count} more)`);
  printed.add("begin\n");
  for (let n = 0; n < 100; n++) printed.add(`${"x".repeat(999)}\n`);
  expect(texts).toEqual(["begin"]);
  await take();
  expect(texts[1]).toMatch(/^\(80000 more\)\nx/);
  expect(texts[1]?.split("\n")).toHaveLength(21);
});

test("a line that begins without its end is printed once that has come", () => {
  const { texts, print } = aTerminal();
  const printed = new PrintedLines(print, String);
  printed.add("wai");
  printed.add("ting\nmore");
  expect(texts).toEqual(["waiting"]);
});
