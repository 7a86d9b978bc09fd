import fc from "fast-check";
import { expect, test } from "vitest";
import { printed, textOf } from "./line.ts";
import { type BlockPlace, closedUntil, markdownLines } from "./markdown.ts";
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

test("markdownLines() shows links by reference and their addresses as they are written, a task once, and blanks where an item has them", () => {
  expect(rows("[a][1]\n\n[1]: https://a.example")).toEqual(["[a][1]", "", "[1]: https://a.example"]);
  expect(rows("- [ ] todo\n\n- [x] done")).toEqual(["• [ ] todo", "• [x] done"]);
  expect(rows("- one\n  - deep\n\n- two\n\n  more")).toEqual(["• one", "  • deep", "• two", "  ", "  more"]);
  expect(rows("   1. one\n    more\n\n1. two")).toEqual(["1. one", "   more", "2. two"]);
});

const SNIPPETS = [
  ...[
    "",
    "",
    "",
    "",
    "words",
    "more [words][x] **bold**",
    "# title",
    "title\n===",
    "***",
    "---",
    "* * *",
    "===",
    "-",
  ],
  ...[
    "- item",
    "- item\n",
    "- item\n- item",
    "  - deep",
    "    text below",
    "- [ ] todo",
    "- [x] done",
    "- ",
    "* item",
  ],
  ...[
    "1. first",
    "1. first\n\n   text below",
    "2. next",
    "7) other",
    "   1. deep",
    "+ item",
    "\t- tab",
    "2",
    "\r",
  ],
  ...["```ts", "```", "~~~", "const a = 1;\n\nb();", "    code", "> said", "> - said", ">", "text: `a", "b`"],
  ...[
    "| a | b |\n|---|---|",
    "| 1 | 2 |",
    "| 3 |",
    "<div>",
    "</div>",
    "<!-- note",
    "-->",
    "<pre>",
    "</pre>",
    "<b>x",
  ],
  ...[
    "[x]: https://a.example",
    "[x]: <b> 'title",
    "'",
    "  ",
    "\u001b[2J",
    "日本 👍🏽",
    "&amp; \\* ",
    " \u00a0",
  ],
];

/** At the end of a row, where nobody sees them. */
const withoutBlanks = (row: string): string => row.replace(/ +(\p{Cc}\[0m)?$/u, "$1");

test("closedUntil() is a place before which nothing changes whatever comes, and after which the rest reads as in the whole", () => {
  const texts = fc.array(fc.constantFrom(...SNIPPETS), { maxLength: 14 }).map((all) => all.join("\n"));
  const cuts = fc.array(fc.nat(100), { minLength: 1, maxLength: 12 });
  let closed = 0;
  fc.assert(
    fc.property(texts, cuts, fc.integer({ min: 8, max: 60 }), (text, shares, width) => {
      // marked takes the box of another item where a task is a heading
      fc.pre(!(/- \[[ x]\]/.test(text) && /^ *[=-]+ *$/m.test(text)));
      const parts: string[] = [];
      let mark: BlockPlace = { chars: 0 };
      const take = (end: number): void => {
        const part = text.slice(mark.chars, end);
        const lines = markdownLines(part, { ...look, width }, mark.item);
        if (mark.item === undefined && parts.length > 0 && lines.length > 0) parts.push("");
        parts.push(...lines.map(printed));
      };
      for (const share of shares.toSorted((a, b) => a - b)) {
        const place = closedUntil(text.slice(mark.chars, Math.floor((share * text.length) / 100)), mark.item);
        if (place === undefined) continue;
        closed++;
        const chars = mark.chars + place.chars;
        expect(chars).toBeGreaterThan(mark.chars);
        take(chars);
        mark = { ...place, chars };
      }
      take(text.length);
      const whole = markdownLines(text, { ...look, width }).map(printed);
      expect(parts.map(withoutBlanks)).toEqual(whole.map(withoutBlanks));
    }),
    { numRuns: Number(process.env.CRUX_RUNS ?? 500) },
  );
  expect(closed).toBeGreaterThan(100);
});
