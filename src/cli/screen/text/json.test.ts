import { expect, test } from "vitest";
import { Decimal, indented, oneLine } from "./json.ts";

test("oneLine() has a blank after each colon and comma, and none inside texts", () => {
  expect(oneLine({ a: 1, b: ["x,y", true, null], c: { d: "e:f" } })).toBe(
    '{"a": 1, "b": ["x,y", true, null], "c": {"d": "e:f"}}',
  );
});

test("oneLine() leaves out what is undefined", () => {
  expect(oneLine({ a: undefined, b: 0 })).toBe('{"b": 0}');
});

test.each([
  [1, "1.0"],
  [5200, "5200.0"],
  [0.042, "0.042"],
  [1.5, "1.5"],
  [0, "0.0"],
  [12.05, "12.05"],
])("Decimal writes %d as %s", (value, text) => {
  expect(oneLine({ d: new Decimal(value) })).toBe(`{"d": ${text}}`);
});

test("indented() keeps arrays of scalars on one line and opens the others", () => {
  expect(indented({ a: [1, 2], b: [{ c: [] }], d: {} })).toBe(
    '{\n  "a": [1, 2],\n  "b": [\n    {\n      "c": []\n    }\n  ],\n  "d": {}\n}',
  );
});
