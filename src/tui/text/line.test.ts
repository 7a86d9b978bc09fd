import fc from "fast-check";
import { expect, test } from "vitest";
import { cutLine, lineWidth, plain, printed, textOf, wrapped } from "./line.ts";

const rows = (text: string, width: number, indent?: string): string[] =>
  wrapped(plain(text), width, indent).map(textOf);

test("wrapped() breaks at blanks, between wide characters, and inside of what is too long", () => {
  expect(rows("the quick brown fox", 10)).toEqual(["the quick ", "brown fox"]);
  expect(rows("日本語のテキスト", 6)).toEqual(["日本語", "のテキ", "スト"]);
  expect(rows("see abcdefghij", 5, "  ")).toEqual(["see ", "  abc", "  def", "  ghi", "  j"]);
});

test("wrapped() parts no word where its style changes, and begins no line with what closes", () => {
  const styled = [
    { text: "run ", style: "" },
    { text: "code", style: "1" },
    { text: ", then", style: "" },
  ];
  expect(wrapped(styled, 8).map(textOf)).toEqual(["run ", "code, ", "then"]);
  expect(rows("日本語、のテ", 6)).toEqual(["日本", "語、の", "テ"]);
  const bold = [
    { text: "日本語", style: "1" },
    { text: "。", style: "" },
  ];
  expect(wrapped(bold, 6).map(textOf)).toEqual(["日本", "語。"]);
});

test("wrapped() keeps every character that is no blank, and no line is wider than the width", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "grapheme", maxLength: 60 }),
      fc.integer({ min: 4, max: 20 }),
      (text, width) => {
        const lines = wrapped(plain(text), width);
        expect(lines.map(textOf).join("").replaceAll(" ", "")).toBe(text.replaceAll(" ", ""));
        for (const line of lines) expect(lineWidth(line)).toBeLessThanOrEqual(width);
      },
    ),
  );
});

test("cutLine() ends in an ellipsis inside of the width, and keeps the styles", () => {
  const line = [
    { text: "héllo ", style: "1" },
    { text: "世界の", style: "2" },
  ];
  expect(cutLine(line, 9)).toEqual([
    { text: "héllo ", style: "1" },
    { text: "世…", style: "2" },
  ]);
  expect(printed(cutLine(line, 20))).toBe("\x1b[1mhéllo \x1b[0m\x1b[2m世界の\x1b[0m");
});

test("printed() lets no text steer the terminal, wherever it came from", () => {
  const line = [{ text: "a\x1b[2J\u202e", style: "31" }];
  expect(printed(line)).toBe("\x1b[31ma\\x1b[2J\\u202e\x1b[0m");
});
