import { expect, test } from "vitest";
import { importsOf } from "./imports.ts";

test.each([
  ["See @docs/rules.md, and (not a@b.example).", ["docs/rules.md"]],
  ["@~/notes.md\n@/abs/x.md @./a @./a", ["~/notes.md", "/abs/x.md", "./a"]],
  ["`@code.md` and ``a ` @code.md`` and @real.md", ["real.md"]],
  ["```\n@fenced.md\n```\n@after.md\n~~~~ sh\n@in.md\n~~~\n@in.md\n~~~~", ["after.md"]],
  ["@ alone, @@ twice", []],
])("importsOf(%j) is %j", (text, paths) => {
  expect(importsOf(text)).toEqual(paths);
});

test("importsOf() stops at 32 paths", () => {
  expect(importsOf(Array.from({ length: 50 }, (_, at) => `@f${at}`).join("\n"))).toHaveLength(32);
});
