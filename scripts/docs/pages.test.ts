import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { VARIABLES } from "../../src/abi/docs/environment.ts";
import { METHOD_DOCS } from "../../src/abi/docs/methods.ts";
import { SETTING_DOCS } from "../../src/abi/docs/settings.ts";
import { METHODS, type MethodName } from "../../src/abi/methods/methods.ts";
import { Settings } from "../../src/abi/settings/settings.ts";
import { findReaders } from "./environment.ts";
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

test.each(Object.entries(SETTING_DOCS))("the example of %s fits the schema", (key, { example }) => {
  const whole = key.split(".").reduceRight<unknown>((inner, name) => ({ [name]: inner }), example);
  expect(Settings.parse(whole)).toEqual(whole);
});

test("every variable that is read is documented, and no other", () => {
  const documented = Object.values(VARIABLES).flatMap(Object.keys);
  expect(documented.toSorted()).toEqual([...findReaders().keys()].sort());
});
