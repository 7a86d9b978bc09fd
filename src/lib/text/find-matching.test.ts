import { expect, test } from "vitest";
import { findMatching } from "./find-matching.ts";

test("findMatching() gives the places of the texts that match", () => {
  expect(findMatching(/b/i, ["ab", "c", "B"], 1_000)).toEqual([0, 2]);
  expect(findMatching(/x/, [], 1_000)).toEqual([]);
});

test("findMatching() gives up a pattern that would search for hours", () => {
  expect(findMatching(/^(a|a)*$/, [`${"a".repeat(60)}b`], 20)).toBeNull();
});
