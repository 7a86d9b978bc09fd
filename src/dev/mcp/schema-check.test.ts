import fc from "fast-check";
import { expect, test } from "vitest";
import { findMismatch } from "./schema-check.ts";

const schema = {
  type: "object",
  properties: {
    name: { type: "string" },
    count: { type: "integer" },
    tags: { type: "array", items: { type: "string" } },
    at: { type: "object", properties: { x: { type: ["number", "null"] } }, required: ["x"] },
    mode: { enum: ["a", 1, null] },
  },
  required: ["name"],
  additionalProperties: false,
};

test.each<[unknown, string | undefined]>([
  [{ name: "x", count: 3, tags: ["a"], at: { x: null }, mode: 1 }, undefined],
  [{ name: "x", at: { x: 1, y: "more" } }, undefined],
  [[], "it must be object"],
  [{}, "name is missing"],
  [{ name: 3 }, "name must be string"],
  [{ name: "x", count: 1.5 }, "count must be integer"],
  [{ name: "x", tags: ["a", 2] }, "tags[1] must be string"],
  [{ name: "x", at: {} }, "at.x is missing"],
  [{ name: "x", at: { x: "1" } }, "at.x must be number or null"],
  [{ name: "x", mode: "b" }, 'mode must be one of ["a",1,null]'],
  [{ name: "x", nmae: "y" }, "nmae is not known; known are name, count, tags, at, mode"],
])("findMismatch() of %j", (value, expected) => {
  expect(findMismatch(schema, value)).toBe(expected);
});

test.each([
  [{ type: "object", additionalProperties: false, patternProperties: { "^x": {} } }, { xy: 1 }],
  [{ $ref: "#/$defs/x", $defs: { x: { type: "string" } } }, 3],
  [{ type: "strange" }, 3],
  [true, 3],
  [null, 3],
  [{ pattern: "^(a+)+$" }, `${"a".repeat(50_000)}!`],
])("findMismatch() leaves %j to the server", (foreign, value) => {
  expect(findMismatch(foreign, value)).toBeUndefined();
});

test("findMismatch() ends for any schema and value, and finds nothing wrong with a schema that says nothing", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (any, value) => {
      findMismatch(any, value);
      expect(findMismatch({}, value)).toBeUndefined();
    }),
    { numRuns: 10_000 },
  );
});

test("findMismatch() stops looking after so many values", () => {
  const value = Array.from({ length: 20_000 }, () => "x");
  expect(findMismatch({ type: "array", items: { type: "string" } }, [...value, 3])).toBeUndefined();
});
