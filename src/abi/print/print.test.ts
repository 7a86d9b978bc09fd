import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { printJsonSchema } from "./print.ts";

test("the published schema of print mode is that of the code (if not: npm run schema)", () => {
  const published = readFileSync(new URL("../../../docs/crux.print.schema.json", import.meta.url), "utf8");
  expect(JSON.parse(published)).toEqual(printJsonSchema());
});
