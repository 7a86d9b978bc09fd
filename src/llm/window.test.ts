/** What the user's variables say of the window beats what the card of the model says. */
import { expect, test } from "vitest";
import { windowFacts } from "./window.ts";

const SIZES = { maxInputTokens: 128_000, maxOutputTokens: 16_000 };
const OFF = { window: 128_000, maxOutput: 16_000, auto: false, compact: true };
const CARD = { ...OFF, auto: true, idleMinutes: 60 };

test.each<[Record<string, string>, object]>([
  [{}, CARD],
  [{ CRUX_MAX_CONTEXT_TOKENS: "32768" }, { ...CARD, window: 32_768 }],
  [{ CRUX_MAX_CONTEXT_TOKENS: "8191" }, CARD],
  [{ CRUX_MAX_CONTEXT_TOKENS: "many" }, CARD],
  [{ CRUX_DISABLE_AUTO_COMPACT: "1" }, OFF],
  [{ CRUX_DISABLE_COMPACT: "1" }, { ...OFF, compact: false }],
  [{ CRUX_DISABLE_COMPACT: "0" }, CARD],
  [{ CRUX_MAX_OUTPUT_TOKENS: "20000" }, { ...CARD, output: 20_000 }],
  [{ CRUX_MAX_OUTPUT_TOKENS: "100" }, CARD],
])("windowFacts() with %o", (env, facts) => {
  expect(windowFacts(SIZES, env)).toEqual(facts);
});

test("windowFacts() takes when to clear, whether to fold and to keep notes from the settings, unless nothing is shortened by itself", () => {
  const settings = {
    micro: { idleMinutes: 5 },
    context: { collapse: true },
    compaction: { sessionNotes: true },
  };
  const wished = { idleMinutes: 5, collapse: true, notes: true };
  expect(windowFacts(SIZES, {}, settings)).toEqual({ ...CARD, ...wished });
  expect(windowFacts(SIZES, {}, { tokenTarget: true })).toHaveProperty("targets", true);
  expect(windowFacts(SIZES, {}, { micro: { idleMinutes: 0 } })).not.toHaveProperty("idleMinutes");
  expect(windowFacts(SIZES, { CRUX_DISABLE_AUTO_COMPACT: "1" }, settings)).toEqual(OFF);
});
