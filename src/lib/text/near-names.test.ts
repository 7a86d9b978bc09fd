import { describe, expect, it, test } from "vitest";
import { editDistance, nearest, nearNames } from "./near-names.ts";

describe("nearNames()", () => {
  it("gives the nearest first, equally near ones in their order", () => {
    expect(nearNames("kil", ["skills", "kiln", "kill", "ps"], 3)).toEqual(["kiln", "kill", "skills", "ps"]);
    expect(nearNames("kil", ["skills", "kiln", "kill", "ps"], 1)).toEqual(["kiln", "kill"]);
  });

  it("leaves out the name itself, but not its other spelling", () => {
    expect(nearNames("ls", ["ls", "LS", "lt"], 2)).toEqual(["lt", "LS"]);
  });

  it("takes a limit by candidate", () => {
    expect(nearNames("abcdef", ["abc", "abcxyz"], (candidate) => candidate.length / 2)).toEqual(["abcxyz"]);
  });
});

test("nearest() orders by any measure, and leaves out what has none", () => {
  const distances = new Map([
    ["far", 2],
    ["near", 0.5],
    ["also near", 0.5],
  ]);
  expect(nearest(["none", ...distances.keys()], (name) => distances.get(name) ?? null)).toEqual([
    "near",
    "also near",
    "far",
  ]);
});

test.each([
  ["", "", 0],
  ["", "abc", 3],
  ["ps", "ps", 0],
  ["pss", "ps", 1],
  ["p", "ps", 1],
  ["sp", "ps", 1],
  ["klil", "kill", 1],
  ["kitten", "sitting", 3],
  ["Kill", "kill", 1],
])("editDistance(%j, %j) is %i, both ways", (a, b, distance) => {
  expect([editDistance(a, b), editDistance(b, a)]).toEqual([distance, distance]);
});

test("editDistance() does not compare what is too long", () => {
  expect(editDistance("a".repeat(100), "a".repeat(100))).toBe(0);
  expect(editDistance("a".repeat(101), "a".repeat(101))).toBe(Number.POSITIVE_INFINITY);
});
