import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { METHOD_DOCS } from "../../src/abi/docs/methods.ts";
import { METHODS, type MethodName } from "../../src/abi/methods.ts";
import { GENERATED } from "./pages.ts";

test.each(Object.keys(GENERATED))("docs/%s is that of the code (if not: npm run docs)", (name) => {
  const page = readFileSync(new URL(`../../docs/${name}`, import.meta.url), "utf8");
  expect(page === GENERATED[name]?.()).toBe(true);
});

describe("the example of", () => {
  test.each(Object.keys(METHODS) as MethodName[])("%s fits its schemas", (name) => {
    const { params, result, kind } = METHODS[name];
    const doc = METHOD_DOCS[name];
    expect(params.parse(doc.params)).toEqual(doc.params);
    if (result !== undefined && doc.result !== undefined)
      expect(result.parse(doc.result)).toEqual(doc.result);
    expect({ stream: doc.stream !== undefined, lines: (doc.lines ?? []).length > 0 }).toEqual({
      stream: kind === "stream",
      lines: kind === "stream",
    });
  });
});
