import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseComposeFile } from "../../../abi/compose/file.ts";
import { interpolate } from "../../../abi/compose/variables.ts";
import { parseComposeYaml } from "../../../abi/compose/yaml.ts";

test("every example of the user's page is a compose file", () => {
  const page = readFileSync(new URL("../../../../docs/compose.md", import.meta.url), "utf8");
  const examples = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(([, text = ""]) => text);
  expect(examples.length).toBeGreaterThanOrEqual(3);
  for (const text of examples) {
    const file = interpolate(parseComposeYaml("compose.md", text), {});
    expect(parseComposeFile(file, { dir: "/desk/notes" }).services.length).toBeGreaterThan(1);
  }
});
