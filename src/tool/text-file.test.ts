import fc from "fast-check";
import { expect, test } from "vitest";
import { makePatch } from "./patch.ts";
import { difference } from "./text-file.ts";

const text = fc.string({ unit: fc.constantFrom("a", "é", "è", "\u{1F600}", "\n", "“", "”"), maxLength: 20 });

test("difference: the part put in place gives the new text, and is text itself", () => {
  fc.assert(
    fc.property(text, text, text, text, (head, tail, old, next) => {
      const [before, after] = [Buffer.from(head + old + tail), Buffer.from(head + next + tail)];
      const { at, length, content } = difference(before, after);
      expect(content.toString()).not.toContain("\uFFFD");
      const made = Buffer.concat([before.subarray(0, at), content, before.subarray(at + length)]);
      expect(made).toEqual(after);
      expect(length).toBeLessThanOrEqual(Buffer.byteLength(old));
    }),
  );
});

test("makePatch names the lines of the whole file, with three around a change", () => {
  const lines = Array.from({ length: 100 }, (_, n) => `line ${n}\n`);
  const before = lines.join("");
  const after = lines.with(50, "other\n").join("");
  const { text, additions, removals } = makePatch("a", before, after);
  expect(text).toBe(
    "--- a\n+++ a\n@@ -48,7 +48,7 @@\n line 47\n line 48\n line 49\n-line 50\n+other\n line 51\n line 52\n line 53\n",
  );
  expect([additions, removals]).toEqual([1, 1]);
});

test("makePatch counts and places as for whole texts, wherever the change is", () => {
  const line = fc.constantFrom("a\n", "b\n", "c\n", "\n");
  fc.assert(
    fc.property(
      fc.array(line, { maxLength: 12 }),
      fc.nat(12),
      fc.nat(3),
      fc.array(line, { maxLength: 3 }),
      (lines, at, gone, put) => {
        const after = lines.toSpliced(at, gone, ...put);
        const { additions, removals, hunks } = makePatch("a", lines.join(""), after.join(""));
        expect(additions - removals).toBe(after.length - lines.length);
        for (const { oldStart, oldLines, lines: shown } of hunks) {
          const old = shown.filter((each) => !each.startsWith("+")).map((each) => `${each.slice(1)}\n`);
          expect(lines.slice(Math.max(0, oldStart - 1), Math.max(0, oldStart - 1) + oldLines)).toEqual(old);
        }
      },
    ),
  );
});
