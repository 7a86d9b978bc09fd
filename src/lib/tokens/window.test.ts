import fc from "fast-check";
import { expect, test } from "vitest";
import { saidTokens } from "../tokens.ts";
import { messageTokens } from "./message.ts";
import { LEAST_WINDOW, thresholds } from "./window.ts";

test("thresholds() has the documented numbers for a window of 200,000", () => {
  const { effective, warn, auto, block } = thresholds(200_000, 64_000, true);
  expect([effective, warn, auto, block]).toEqual([180_000, 147_000, 167_000, 177_000]);
  expect(thresholds(200_000, 64_000, false)).toMatchObject({ warn: 157_000, auto: null, block: 177_000 });
  expect(thresholds(200_000, 8_000, true).effective).toBe(192_000);
});

test("thresholds() keeps their order for every window", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: LEAST_WINDOW, max: 2_000_000 }),
      fc.integer({ min: 1, max: 200_000 }),
      (window, maxOutput) => {
        const { effective, warn, auto, block } = thresholds(window, maxOutput, true);
        expect(warn).toBeGreaterThan(0);
        expect(auto).toBeGreaterThan(warn);
        expect(block).toBeGreaterThan(auto ?? 0);
        expect(effective).toBeGreaterThan(block);
        expect(window).toBeGreaterThan(effective);
      },
    ),
  );
});

const filled = (before: string, each: string, after: string): string => {
  const room = 400 - before.length - after.length;
  return before + each.repeat(Math.floor(room / each.length)).padEnd(room) + after;
};

test.each([
  ["text", "words ".repeat(80).slice(0, 400), 100],
  ["text in brackets", filled("[see ", "x", "]"), 100],
  ["code", filled("{ let a; ", "a++; ", "}"), 100],
  ["JSON", filled('{"a":[', "12,", "3]}"), 200],
  ["lines of JSON", filled('{"a":1}\n', '{"a":2}\n', '{"b":1}\n'), 200],
  ["CJK", "\u6f22".repeat(400), 400],
])("400 characters of %s are %s tokens or so", (_what, text, tokens) => {
  expect(text).toHaveLength(400);
  expect(saidTokens(text)).toBe(tokens);
  const frame = messageTokens({ content: "" });
  expect(messageTokens({ content: text })).toBe(tokens + frame);
  const image = { type: "image", data: "AAAA" };
  expect(messageTokens({ content: text, media: [image, image] })).toBe(tokens + frame + 4_000);
});
