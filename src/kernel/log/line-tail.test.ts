import fc from "fast-check";
import { expect, test } from "vitest";
import { LineTail } from "./line-tail.ts";

/** All of it at once. */
function naive(text: string, lines: number, maxBytes: number): string {
  if (lines === 0) return "";
  const all = text.split(/(?<=\n)/);
  const kept = all.slice(-lines).join("");
  return kept.slice(Math.max(0, kept.length - maxBytes));
}

function tailOf(chunks: readonly string[], lines: number, maxBytes: number): string {
  const tail = new LineTail(lines, maxBytes);
  for (const chunk of chunks) tail.push(Buffer.from(chunk));
  return Buffer.from(tail.bytes).toString();
}

test.each([
  [["a\nb\n"], 1, 100, "b\n"],
  [["a\nb"], 1, 100, "b"],
  [["a\n", "b", "\n"], 2, 100, "a\nb\n"],
  [["\n\n"], 1, 100, "\n"],
  [["a\nb\n"], 0, 100, ""],
  [[], 3, 100, ""],
  [["a\nlonger than that\n"], 2, 3, "at\n"],
])("LineTail of %j: the last %i, at most %i bytes", (chunks, lines, maxBytes, expected) => {
  expect(tailOf(chunks, lines, maxBytes)).toBe(expected);
});

test("LineTail keeps what all at once would, however it is cut into chunks", () => {
  const chunk = fc.string({ unit: fc.constantFrom("a", "b", "\n"), maxLength: 12 });
  fc.assert(
    fc.property(
      fc.array(chunk, { maxLength: 8 }),
      fc.nat(6),
      fc.integer({ min: 1, max: 30 }),
      (chunks, n, max) => {
        expect(tailOf(chunks, n, max)).toBe(naive(chunks.join(""), n, max));
      },
    ),
    { numRuns: 10_000 },
  );
});
