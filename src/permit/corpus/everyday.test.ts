/** Friction: how many of the texts that agents run all day, which change nothing, are a question in mode default. */
import { beforeAll, expect, test } from "vitest";
import { loadParser } from "../shell/parser.ts";
import { EVERYDAY, HELD_OUT } from "../testing/everyday.ts";
import { decidedWithoutRules } from "../testing/no-rules.ts";

beforeAll(async () => {
  await loadParser();
});

const asked = (text: string): boolean => decidedWithoutRules(text) !== "allow";

test.each([
  ["everyday texts", EVERYDAY, "168 (47.2 %)"],
  ["texts of another manner", HELD_OUT, "23 (20.4 %) when first tried"],
] as const)("%s: at most 15 %% ask", (_, texts, before) => {
  asked("ls");
  const asking = texts.filter(asked);
  const rate = (100 * asking.length) / texts.length;
  console.log(`friction: ${asking.length} of ${texts.length} ask (${rate.toFixed(1)} %), before: ${before}`);
  expect(rate).toBeLessThanOrEqual(15);
});
