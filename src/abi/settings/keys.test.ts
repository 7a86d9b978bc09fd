import { expect, test } from "vitest";
import * as z from "zod";
import { SETTING_KEYS } from "./keys.ts";
import { Settings } from "./settings.ts";

/** The values of a schema that hold no further keys, by path. */
function leaves(schema: z.ZodType, path: readonly string[] = []): string[] {
  const inner = schema instanceof z.ZodOptional ? (schema.unwrap() as z.ZodType) : schema;
  if (!(inner instanceof z.ZodObject)) return [path.join(".")];
  return Object.entries(inner.shape).flatMap(([key, each]) => leaves(each as z.ZodType, [...path, key]));
}

test("SETTING_KEYS are the keys of the schema, no more and no fewer", () => {
  expect([...SETTING_KEYS]).toEqual(leaves(Settings).sort());
});
