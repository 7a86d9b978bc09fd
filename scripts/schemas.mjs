// Writes the JSON Schemas of docs/ from the schemas in the code: of compose files, and of the lines of print mode.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { composeJsonSchema } from "../src/abi/compose/schema.ts";
import { printJsonSchema } from "../src/abi/print/print.ts";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const schemas = {
  "docs/crux.compose.schema.json": composeJsonSchema(),
  "docs/crux.print.schema.json": printJsonSchema(),
};
for (const [name, schema] of Object.entries(schemas)) {
  const path = join(root, name);
  writeFileSync(path, `${JSON.stringify(schema, null, 2)}\n`);
  const { status } = spawnSync(join(root, "node_modules/.bin/biome"), ["format", "--write", path], {
    cwd: root,
    stdio: "inherit",
  });
  process.exitCode ||= status ?? 1;
}
