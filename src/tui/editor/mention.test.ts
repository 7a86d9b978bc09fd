import { expect, test } from "vitest";
import { BLANK, insert } from "./buffer.ts";
import { fitting, mentionAt, mentioned } from "./mention.ts";

const typed = (text: string) => insert(BLANK, text);

test.each([
  ["@", 0, ""],
  ["look at @src/ma", 8, "src/ma"],
  ['(@"my no', 1, "my no"],
  ["one\n@a", 4, "a"],
])("mentionAt(%j) begins at %i", (text, from, begun) => {
  expect(mentionAt(typed(text))).toEqual({ from, begun });
});

test.each(["mail me@here", "@a done", '@"a b" ', "none", "@@a"])("mentionAt(%j) is none", (text) => {
  expect(mentionAt(typed(text))).toBeUndefined();
});

test("fitting() ranks a begin before a part before letters in order, and is bounded", () => {
  const paths = ["lib/xmainy.ts", "src/main.ts", "main/", "m/a/i/n", "domain/x", "Main.md", "other"];
  expect(fitting(paths, "main")).toEqual([
    "main/",
    "Main.md",
    "src/main.ts",
    "lib/xmainy.ts",
    "domain/x",
    "m/a/i/n",
  ]);
  expect(fitting(paths, "Main")).toEqual(["Main.md"]);
  expect(
    fitting(
      Array.from({ length: 200 }, (_, n) => `f${n}`),
      "",
    ),
  ).toHaveLength(50);
});

test("mentioned() puts the path in place of what was typed, in the midst of a text", () => {
  const buffer = { ...typed("see @ma now"), at: 7 };
  const put = (path: string) => mentioned(buffer, { from: 4, begun: "ma" }, path);
  expect(put("src/main.ts")).toMatchObject({ text: "see @src/main.ts  now", at: 17 });
  expect(put("my notes/a.md").text).toBe('see @"my notes/a.md"  now');
  expect(mentionAt(put("my notes/"))?.begun).toBe("my notes/");
});
