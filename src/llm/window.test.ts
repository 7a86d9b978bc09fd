/** What the user's variables say of the window beats what the card of the model says. */
import { expect, test } from "vitest";
import { windowFacts } from "./window.ts";

const SIZES = { maxInputTokens: 128_000, maxOutputTokens: 16_000 };
const CARD = { window: 128_000, maxOutput: 16_000, auto: true, compact: true };

test.each<[Record<string, string>, object]>([
  [{}, CARD],
  [{ CRUX_MAX_CONTEXT_TOKENS: "32768" }, { ...CARD, window: 32_768 }],
  [{ CRUX_MAX_CONTEXT_TOKENS: "8191" }, CARD],
  [{ CRUX_MAX_CONTEXT_TOKENS: "many" }, CARD],
  [{ CRUX_DISABLE_AUTO_COMPACT: "1" }, { ...CARD, auto: false }],
  [{ CRUX_DISABLE_COMPACT: "1" }, { ...CARD, auto: false, compact: false }],
  [{ CRUX_DISABLE_COMPACT: "0" }, CARD],
  [{ CRUX_MAX_OUTPUT_TOKENS: "20000" }, { ...CARD, output: 20_000 }],
  [{ CRUX_MAX_OUTPUT_TOKENS: "100" }, CARD],
])("windowFacts() with %o", (env, facts) => {
  expect(windowFacts(SIZES, env)).toEqual(facts);
});
