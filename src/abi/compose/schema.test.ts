import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ComposeFile, composeJsonSchema, composeKeysAt } from "./schema.ts";

const read = (name: string): string =>
  readFileSync(new URL(`../../../docs/${name}`, import.meta.url), "utf8");

test("the published schema is that of the code (if not: npm run schema)", () => {
  expect(JSON.parse(read("crux.compose.schema.json"))).toEqual(composeJsonSchema());
});

interface Schema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | false;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

/** Every key of the file with its path, `*` where the user names things. */
function* keysOf(schema: Schema, path = ""): Generator<[path: string, schema: Schema]> {
  for (const [key, inner] of Object.entries(schema.properties ?? {})) {
    yield [`${path}${key}`, inner];
    yield* keysOf(inner, `${path}${key}.`);
  }
  if (schema.additionalProperties) yield* keysOf(schema.additionalProperties, `${path}*.`);
  if (schema.items) yield* keysOf(schema.items, `${path}*.`);
  for (const inner of schema.anyOf ?? []) yield* keysOf(inner, path);
}

test("every key says what it is, and stands in the user's page", () => {
  const page = read("compose.md");
  const keys = [...keysOf(composeJsonSchema() as Schema)];
  expect(keys.length).toBeGreaterThan(35);
  for (const [path, { description }] of keys) {
    expect({ path, described: (description ?? "") !== "" }).toEqual({ path, described: true });
    expect(page).toContain(`\`${path.split(".").at(-1)}\``);
  }
});

test("composeKeysAt() knows the keys of each mapping", () => {
  expect(composeKeysAt([])).toEqual(Object.keys(ComposeFile.shape));
  expect(composeKeysAt(["services", "a"])).toContain("depends_on");
  expect(composeKeysAt(["services", "a", "budget"])).toEqual(["tokens", "usd"]);
  expect(composeKeysAt(["services", "a", "ready"])).toEqual(["stdout", "timeout_ms"]);
  expect(composeKeysAt(["pipes", 0])).toEqual(["from", "to", "stream"]);
  expect(composeKeysAt(["services"])).toEqual([]);
});
