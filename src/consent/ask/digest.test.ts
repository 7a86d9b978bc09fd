import fc from "fast-check";
import { expect, test } from "vitest";
import { digestOf } from "./digest.ts";

const WRITE = { kind: "write", path: "/a", change: "modify", real: "/a" } as const;

test("digestOf() does not depend on the order of keys", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (input) => {
      const turned = Object.fromEntries(Object.entries(input).toReversed());
      expect(digestOf("bash", JSON.stringify(turned), [WRITE])).toBe(
        digestOf("bash", JSON.stringify(input), [WRITE]),
      );
    }),
  );
});

test("digestOf() tells tools, arguments and where a path leads apart", () => {
  const digests = [
    digestOf("edit", '{"a":1}', [WRITE]),
    digestOf("write", '{"a":1}', [WRITE]),
    digestOf("edit", '{"a":2}', [WRITE]),
    digestOf("edit", '{"a":[["b",1]]}', [WRITE]),
    digestOf("edit", '{"a":{"b":1}}', [WRITE]),
    digestOf("edit", '{"a":1}', [{ ...WRITE, real: "/etc/hosts" }]),
    digestOf("edit", "not json", [WRITE]),
  ];
  expect(new Set(digests).size).toBe(digests.length);
});
