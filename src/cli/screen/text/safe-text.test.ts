import { expect, test } from "vitest";
import { safeLine, safeLines, safeScreen } from "./safe-text.ts";

test("safeLines() shows terminal controls instead of sending them", () => {
  expect(safeLines("a\x1b]52;c;eA==\x07b")).toBe("a\\x1b]52;c;eA==\\x07b");
  expect(safeLines("\u202egpj.exe \u0085 \u2066x")).toBe("\\u202egpj.exe \\x85 \\u2066x");
});

test("safeLines() leaves lines, tabs and other scripts alone", () => {
  expect(safeLines("one\r\n\ttwo\n三 👩‍👧")).toBe("one\n\ttwo\n三 👩‍👧");
});

test("safeScreen() keeps colours, lines and tabs, and nothing else that steers a terminal", () => {
  expect(safeScreen("\x1b[31mred\x1b[0m\n\tplain")).toBe("\x1b[31mred\x1b[0m\n\tplain");
  expect(safeScreen("\x1b[31m\x1b[2J\r\u202e\u009b2J\x1b]0;t\x07")).toBe(
    "\x1b[31m\\x1b[2J\\x0d\\u202e\\x9b2J\\x1b]0;t\\x07",
  );
});

test("safeLine() is one line", () => {
  expect(safeLine("rm -rf x\n\ry\t")).toBe("rm -rf x\\n\\x0dy\\t");
});
