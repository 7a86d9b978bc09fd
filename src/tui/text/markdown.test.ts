import { expect, test } from "vitest";
import { printed, textOf } from "./line.ts";
import { markdownLines } from "./markdown.ts";
import { themeOf } from "./theme.ts";

const look = { theme: themeOf("dark", 256), width: 40 };
const rows = (text: string, width = 40): string[] => markdownLines(text, { ...look, width }).map(textOf);

test("markdownLines() shows headings, lists, code, quotes and tables without their marks", () => {
  expect(rows("# Title\n\nSome **bold** `code`.\n\n- one\n- two\n  1. deep\n\n> said")).toEqual([
    ...["Title", "", "Some bold code.", "", "• one", "• two", "  1. deep", "", "│ said"],
  ]);
  expect(rows("```ts\nconst a = 1;\n\n\tb();\n```")).toEqual(["  const a = 1;", "  ", "      b();"]);
  expect(rows("| a | bb |\n|---|---|\n| 1 | 2 |")).toEqual(["a │ bb", "──┼───", "1 │ 2"]);
  expect(rows("| a | bb |\n|--:|---:|\n| 日本 | 2 |")).toEqual(["   a │ bb", "─────┼───", "日本 │  2"]);
});

test("markdownLines() lists the cells of a table that is too wide", () => {
  expect(rows("| name | about |\n|---|---|\n| x | a long text here |", 16)).toEqual([
    "• name: x",
    "  about: a long ",
    "    text here",
  ]);
});

test("markdownLines() shows where a link leads, and HTML as it is written", () => {
  expect(rows("[here](https://a.example) <b>x</b>")).toEqual(["here (https://a.example) <b>x</b>"]);
});

test("markdownLines() lets nothing steer the terminal or turn the reading direction", () => {
  const evil = "a\x1b]52;c;eA==\x07 b\x1b[2Jc \u202edrow \x9b31m\r\n```\n\x1b]0;title\x07\n```";
  const out = markdownLines(evil, look)
    .map(printed)
    .join("\n")
    .replaceAll(/\p{Cc}\[[\d;]*m/gu, "");
  expect(out).not.toMatch(/(?!\n)[\p{Cc}\u202e]/u);
  expect(out).toContain("\\x1b]52;c;eA==");
});
