import fc from "fast-check";
import { expect, it } from "vitest";
import { LongLines } from "./long-lines.ts";

function cut(printed: string, size = printed.length): string {
  const bytes = Buffer.from(printed);
  const lines = new LongLines();
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) parts.push(lines.push(bytes.subarray(at, at + size)));
  return Buffer.concat([...parts, lines.end()]).toString();
}

it("LongLines leaves short lines, separators and remarks, without the columns", () => {
  const printed = "a:1\x003:7:x: hit\na:1\x004-9:1:y\n--\n./b: binary file matches\n";
  expect(cut(printed)).toBe("a:1\x003:x: hit\na:1\x004-9:1:y\n--\n./b: binary file matches\n");
});

it("LongLines shows a window around the match of a long line", () => {
  const line = `${"é".repeat(3_000)}HIT${"ü".repeat(3_000)}`;
  const shown = cut(`a\x001:6001:${line}\n`);
  expect(shown).toMatch(/^a.1:…é{100}HITü{898}…\n$/);
  expect(cut(`a\x001:1:${line}\n`)).toMatch(/^a.1:é{1000}…\n$/);
  expect(cut(`a\x001-${line}\n`)).toMatch(/^a.1-é{1000}…\n$/);
  const last = `${"x".repeat(5_000)}HIT`;
  expect(cut(`a\x001:5001:${last}`)).toBe(`a\x001:…${"x".repeat(200)}HIT`);
  // the column of a match that began in another line
  expect(cut(`a\x001:9000:${last}`)).toBe(`a\x001:${"x".repeat(2_000)}…`);
});

it("LongLines gives the same however its input is cut", () => {
  const line = fc.tuple(fc.nat(4_000), fc.constantFrom(":", "-"), fc.nat(4_000)).map(([at, mark, rest]) => {
    const column = mark === ":" ? `${at + 1}:` : "";
    return `f\x0012${mark}${column}${"a".repeat(at)}€${"b".repeat(rest)}\n`;
  });
  fc.assert(
    fc.property(fc.array(line, { maxLength: 4 }), fc.integer({ min: 1, max: 999 }), (lines, size) => {
      const whole = cut(lines.join(""));
      expect(cut(lines.join(""), size)).toBe(whole);
      expect(whole).not.toContain("\uFFFD");
    }),
    { numRuns: 30 },
  );
});
