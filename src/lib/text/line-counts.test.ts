import { expect, test } from "vitest";
import { lineCounts } from "./line-counts.ts";

test.each([
  ["", "", 0, 0],
  ["", "a\nb\n", 2, 0],
  ["a\nb\n", "", 0, 2],
  ["a\nb\nc\n", "a\nx\nc\nd\n", 2, 1],
  ["a", "a\n", 1, 1],
])("lineCounts(%j, %j) is +%i -%i", (before, after, insertions, deletions) => {
  expect(lineCounts(before, after)).toEqual({ insertions, deletions });
});

test("lineCounts() gives up what would take too long, and counts all lines", () => {
  const text = (word: string) => `${Array.from({ length: 5_000 }, (_, n) => `${word} ${n}`).join("\n")}\n`;
  expect(lineCounts(text("old"), text("new"))).toEqual({ insertions: 5_000, deletions: 5_000 });
});
