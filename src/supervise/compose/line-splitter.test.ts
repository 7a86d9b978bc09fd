import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LIMITS } from "../../kernel/limits.ts";
import { LineSplitter, linesOf } from "./line-splitter.ts";

function linesFrom(chunks: readonly Uint8Array[]): string[] {
  const lines: string[] = [];
  const splitter = new LineSplitter((heard) => lines.push(...heard));
  for (const chunk of chunks) splitter.push(chunk);
  splitter.flush();
  return lines;
}

describe("LineSplitter", () => {
  test("the same lines, in whatever pieces the bytes come, also within a character", () => {
    const text = fc.array(fc.constantFrom("a", "é", "析", "🦀", "\n", "\r\n", ""), { maxLength: 40 });
    fc.assert(
      fc.property(text, fc.array(fc.nat(80), { maxLength: 10 }), (parts, cuts) => {
        const bytes = Buffer.from(parts.join(""));
        const at = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
        const chunks = at.slice(1).map((end, i) => bytes.subarray(at[i], end));
        const expected = parts.join("").split("\n");
        if (expected.at(-1) === "") expected.pop();
        expect(linesFrom(chunks)).toEqual(expected.map((line) => line.replace(/\r$/, "")));
      }),
      { numRuns: 10_000 },
    );
  });

  test("a line without an end is told in pieces, and keeps no more than one", () => {
    const lines = linesFrom(Array.from({ length: 100 }, () => Buffer.alloc(1_000, "x")));
    expect(lines.map(({ length }) => length)).toEqual([
      ...Array(6).fill(LIMITS.lineChars),
      100_000 - 6 * LIMITS.lineChars,
    ]);
  });
});

test("linesOf() keeps empty lines and cuts long ones", () => {
  expect(linesOf("a\n\nb\r\n")).toEqual(["a", "", "b", ""]);
  expect(linesOf("x".repeat(LIMITS.lineChars + 1)).map(({ length }) => length)).toEqual([
    LIMITS.lineChars,
    1,
  ]);
});
