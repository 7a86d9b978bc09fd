import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LineSplitter, type SplitLine } from "./line-splitter.ts";

function split(chunks: readonly Uint8Array[]): SplitLine[] {
  const splitter = new LineSplitter();
  return [...chunks.flatMap((chunk) => splitter.push(chunk)), ...splitter.end()];
}
const texts = (text: string): string[] => split([Buffer.from(text)]).map((line) => line.text);

describe("LineSplitter", () => {
  it.each([
    ["a\nb\n", ["a", "b"]],
    ["a\r\nb", ["a", "b"]],
    ["1%\r2%\r3%\n", ["1%", "2%", "3%"]],
    ["\n\r\n\r", ["", "", ""]],
    ["", []],
  ])("%j", (text, lines) => {
    expect(texts(text)).toEqual(lines);
  });

  it("a \\n that comes later than its \\r makes no line, and is counted", () => {
    const lines = split([Buffer.from("a\r"), Buffer.from("\nb\n")]);
    expect(lines.map(({ text, bytes }) => [text, bytes])).toEqual([
      ["a", 2],
      ["b", 3],
    ]);
  });

  it("cuts a long line into pieces, never within a character", () => {
    const long = "é".repeat(100_000);
    const lines = split([Buffer.from(`x${long}\nend\n`)]);
    expect(lines.map(({ isPartial }) => isPartial)).toEqual([true, true, true, false, false]);
    expect(
      lines
        .slice(0, 4)
        .map((line) => line.text)
        .join(""),
    ).toBe(`x${long}`);
    expect(lines.every(({ bytes }) => bytes <= 65_536)).toBe(true);
  });

  it("gives the same lines, and all bytes, however the output is cut", () => {
    const pieces = fc.array(fc.constantFrom("a", "é", "\n", "\r", "\r\n", "日本"), { maxLength: 40 });
    fc.assert(
      fc.property(pieces, fc.array(fc.integer({ min: 1, max: 7 })), (parts, cuts) => {
        const all = Buffer.from(parts.join(""));
        const chunks: Buffer[] = [];
        for (let at = 0, n = 0; at < all.length; n++) {
          const end = Math.min(all.length, at + (cuts[n] ?? 3));
          chunks.push(all.subarray(at, end));
          at = end;
        }
        const lines = split(chunks);
        expect(lines.map(({ text }) => text)).toEqual(texts(all.toString()));
        const counted = lines.reduce((sum, { bytes }) => sum + bytes, 0);
        expect(all.length - counted).toBeLessThanOrEqual(all.at(-1) === 0x0a ? 1 : 0);
      }),
    );
  });
});
