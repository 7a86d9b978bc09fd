import { expect, test } from "vitest";
import { safeLine, safeLines } from "./safe-text.ts";

test("safeLines() shows terminal controls instead of sending them", () => {
  expect(safeLines("a\x1b]52;c;eA==\x07b")).toBe("a\\x1b]52;c;eA==\\x07b");
  expect(safeLines("\u202egpj.exe \u0085 \u2066x")).toBe("\\u202egpj.exe \\x85 \\u2066x");
});

test("safeLines() leaves lines, tabs and other scripts alone", () => {
  expect(safeLines("one\r\n\ttwo\n三 👩‍👧")).toBe("one\n\ttwo\n三 👩‍👧");
});

test("safeLine() is one line", () => {
  expect(safeLine("rm -rf x\n\ry\t")).toBe("rm -rf x\\n\\x0dy\\t");
});
