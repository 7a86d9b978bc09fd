/** Writes the reference pages of docs/ from the code: `npm run docs`. A test fails where one of them is not current. */
import { writeFileSync } from "node:fs";
import { GENERATED } from "./docs/pages.ts";

for (const [name, page] of Object.entries(GENERATED))
  writeFileSync(new URL(`../docs/${name}`, import.meta.url), page());
