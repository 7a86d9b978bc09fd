import { expect, test } from "vitest";
import { fittingLines } from "./fitting-lines.ts";

test("fittingLines() counts whole lines, with their breaks", () => {
  const lines = ["ab", "c", "d"];
  expect([0, 2, 3, 4, 5, 6, 7, 9].map((chars) => fittingLines(lines, chars))).toEqual([
    0, 0, 1, 1, 2, 2, 3, 3,
  ]);
  expect(fittingLines([], 9)).toBe(0);
});
