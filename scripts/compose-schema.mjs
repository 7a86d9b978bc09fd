// Writes docs/crux.compose.schema.json, which editors check compose files with, from the schema that the daemon checks them with.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { composeJsonSchema } from "../src/abi/compose/schema.ts";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const path = join(root, "docs/crux.compose.schema.json");
writeFileSync(path, `${JSON.stringify(composeJsonSchema(), null, 2)}\n`);
const { status } = spawnSync(join(root, "node_modules/.bin/biome"), ["format", "--write", path], {
  cwd: root,
  stdio: "inherit",
});
process.exitCode = status ?? 1;
