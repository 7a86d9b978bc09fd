import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { shellWord } from "./shell-word.ts";

it.each([
  "/w/a-b_c.d",
  "x",
  '/it\'s a $HOME "clone" é/`id`',
  "*",
  "~",
  "~/x",
  "a=b",
  "#x",
  "a\nb",
  "",
  "\\",
  "é",
])("shellWord() is one word, the text itself: %j", (text) => {
  expect(spawnSync("sh", ["-c", `printf '<%s>' ${shellWord(text)}`]).stdout.toString()).toBe(`<${text}>`);
});

it("shellWord() quotes only what must be", () => {
  expect(["/w/a-b_c.d:1", "a b", ""].map(shellWord)).toEqual(["/w/a-b_c.d:1", "'a b'", "''"]);
});
