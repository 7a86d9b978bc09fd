import { expect, test } from "vitest";
import { enterLine } from "./line-entry.ts";

async function entered(chunks: readonly string[], columns?: number, isHidden = false) {
  const [rest, written] = [[...chunks], [] as string[]];
  const keyboard = { next: async () => rest.shift() };
  const write = async (text: string) => void written.push(text);
  const typing = { keyboard, write, columns };
  const line = await enterLine(
    typing,
    { prompt: "Name: ", initial: "", isHidden },
    new AbortController().signal,
  );
  return { line, written };
}

test("enterLine() takes the keys that come at once, one by one", async () => {
  expect((await entered(["abc\x7f\x7f", "x\x15yz", "\x1b[A", "👩‍👩‍👧\x7f!\r"])).line).toBe("yz!");
  expect((await entered(["abc", "\x1b"])).line).toBeUndefined();
});

test("enterLine() writes what is new alone, and a shorter line over all rows that the terminal has folded", async () => {
  const { written } = await entered(["abcd", "e", "\x7f", "\r"], 6);
  expect(written).toEqual(["Name: ", "abcd", "e", "\r\x1b[1A\x1b[JName: abcd", "", "\n"]);
  expect((await entered(["ab\x7f", "\x7f", "\r"], undefined, true)).written).toEqual([
    "Name: ",
    "•",
    "\r\x1b[KName: ",
    "",
    "\n",
  ]);
});
