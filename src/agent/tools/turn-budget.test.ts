import fc from "fast-check";
import { expect, test } from "vitest";
import { cut, levelOf, MAX_TURN_CHARS } from "./turn-budget.ts";

test("levelOf cuts the largest first, and no more than needed", () => {
  expect(levelOf([90_000, 90_000, 90_000], MAX_TURN_CHARS)).toBe(66_666);
  expect(levelOf([10, 150_000, 90_000], MAX_TURN_CHARS)).toBe(109_990);
  expect(levelOf([100_000, 100_000], MAX_TURN_CHARS)).toBe(Infinity);
  expect(levelOf([], MAX_TURN_CHARS)).toBe(Infinity);
  fc.assert(
    fc.property(fc.array(fc.nat(50), { maxLength: 12 }), fc.nat(200), (lengths, max) => {
      const level = levelOf(lengths, max);
      const cutTo = lengths.map((length) => Math.min(length, level));
      const sum = cutTo.reduce((a, b) => a + b, 0);
      expect(sum).toBeLessThanOrEqual(max);
      const isCut = lengths.some((length) => length > level);
      expect(isCut).toBe(lengths.reduce((a, b) => a + b, 0) > max);
      // one more character each would be too many
      if (isCut) expect(sum + lengths.filter((length) => length > level).length).toBeGreaterThan(max);
    }),
  );
});

test("cut stays within its length, at a line, and keeps the last line with the way to the whole", () => {
  const content = `${"0123456789\n".repeat(1000)}[truncated: all of it: view /var/out/c_1]`;
  const made = cut(content, 2000, "/var/out/turn-1.txt");
  expect(made.length).toBeLessThanOrEqual(2000);
  const lines = made.split("\n");
  expect(lines[0]).toBe("0123456789");
  expect(lines.at(-3)).toBe("0123456789");
  expect(lines.at(-2)).toMatch(
    /^\[cut, .* of 11041 characters\. All of it: view \/var\/out\/turn-1\.txt, or grep it\]$/,
  );
  expect(lines.at(-1)).toBe("[truncated: all of it: view /var/out/c_1]");
  expect(cut(`${"x".repeat(5000)}`, 1000, "")).toMatch(/^x{800}\n\[cut.*The rest was not kept\]$/);
});
