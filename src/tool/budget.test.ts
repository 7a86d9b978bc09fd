import fc from "fast-check";
import { expect, test } from "vitest";
import { cutEnds } from "./budget.ts";

test("cutEnds keeps both ends whole and never splits a character", () => {
  const text = fc
    .array(fc.constantFrom("a", "\n", "😀", "é"), { maxLength: 200 })
    .map((parts) => parts.join(""));
  fc.assert(
    fc.property(text, fc.integer({ min: 2, max: 40 }), (whole, half) => {
      const shown = cutEnds(whole, half);
      expect(shown.isWellFormed()).toBe(true);
      if (whole.length <= 2 * half) {
        expect(shown).toBe(whole);
        return;
      }
      const [head = "", tail = ""] = shown.split(/\.\.\. \[\d+ lines truncated\] \.\.\.\n/);
      expect(whole.startsWith(head) || whole.startsWith(head.slice(0, -1))).toBe(true);
      expect(whole.endsWith(tail)).toBe(true);
      expect(tail.length).toBeLessThanOrEqual(half);
      expect(head.length).toBeLessThanOrEqual(half + 1);
    }),
  );
});
