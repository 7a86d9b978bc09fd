import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { withJsonValue, withoutJsonValue } from "./json-edit.ts";

describe("withJsonValue()", () => {
  test("leaves every other byte as it is", () => {
    const before =
      '{\n\t"big": 12345678901234567890, "x": 1.0,\n\t"permissions": {"deny": ["a"],  "odd" : {} }\n}\n';
    expect(withJsonValue(before, ["permissions", "deny"], ["a", "b"])).toBe(
      before.replace('["a"]', '[\n\t\t\t"a",\n\t\t\t"b"\n\t\t]'),
    );
  });

  test("makes what is missing on the way, in the style of the file", () => {
    expect(withJsonValue("", ["a", "b"], 1)).toBe('{\n  "a": {\n    "b": 1\n  }\n}\n');
    expect(withJsonValue('{\n    "x": 1\n}', ["a"], true)).toBe('{\n    "x": 1,\n    "a": true\n}');
    expect(withJsonValue('{\r\n  "x": 1\r\n}', ["a"], true)).toBe('{\r\n  "x": 1,\r\n  "a": true\r\n}');
  });

  test("takes the last of two members with one name, as a reader does", () => {
    expect(JSON.parse(withJsonValue('{"a": 1, "a": 2}', ["a"], 3))).toEqual({ a: 3 });
  });

  // JSON.parse of V8 13.6 may read a name of one escaped character as a backslash: the text is right, what it is compared with is not
  const isRead = (name: string): boolean => JSON.stringify(name).length !== 4 || name.length !== 1;
  const short = fc.string({ maxLength: 4 }).filter(isRead);
  const key = fc.oneof(fc.constantFrom("a", "permissions", "deny", 'q"u\\o'), short);
  const json = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.string({ unit: "grapheme" }),
      fc.double({ noNaN: true, noDefaultInfinity: true }).filter((n) => !Object.is(n, -0)),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie("value"), { maxLength: 3 }),
      tie("object"),
    ),
    object: fc.dictionary(key, tie("value"), { maxKeys: 4 }),
  }));

  test("gives what assigning would give, whatever the file looks like", () => {
    const spaces = fc.constantFrom(undefined, 1, 2, 4, "\t");
    const path = fc.array(key, { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(json.object, spaces, path, json.value, (object, space, at, value) => {
        const text = JSON.stringify(object, null, space);
        const result = JSON.parse(withJsonValue(text, at, value));
        expect(result).toEqual(assigned(JSON.parse(text), at, value));
      }),
      { numRuns: 2000 },
    );
  });
});

function assigned(target: unknown, [key, ...rest]: readonly string[], value: unknown): unknown {
  if (key === undefined) return JSON.parse(JSON.stringify(value));
  const isObject = typeof target === "object" && target !== null && !Array.isArray(target);
  const holder = new Map(isObject ? Object.entries(target) : []);
  holder.set(key, assigned(holder.get(key), rest, value));
  return Object.fromEntries(holder);
}

test.each([
  ['{"a": 1, "b": 2}', ["a"], '{"b": 2}'],
  ['{"a": 1, "b": 2}', ["b"], '{"a": 1}'],
  ['{"a": 1}', ["a"], "{}"],
  ['{"a": {"b": [1, "}"], "c": 3}}\n', ["a", "b"], '{"a": {"c": 3}}\n'],
  ['{"a": 1, "b": 2, "a": 3}', ["a"], '{"b": 2}'],
  ['{"a": 1}', ["b"], '{"a": 1}'],
  ['{"a": 1}', ["a", "b"], '{"a": 1}'],
  ["", ["a"], ""],
])("withoutJsonValue(%j, %j) leaves every other byte", (text, path, left) => {
  expect(withoutJsonValue(text, path)).toBe(left);
});

test("withoutJsonValue() takes out what withJsonValue() put in", () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.string(),
      fc.jsonValue(),
      (object, key, value) => {
        const text = JSON.stringify(object, null, 2);
        const { [key]: _, ...rest } = object;
        const left = JSON.parse(withoutJsonValue(withJsonValue(text, [key], value), [key]));
        expect(left).toEqual(JSON.parse(JSON.stringify(rest)));
      },
    ),
  );
});
