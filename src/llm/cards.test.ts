import { describe, expect, it } from "vitest";
import { cardOf, costOf, modelId } from "./cards.ts";

const usage = (input: number, output = 0, cacheRead = 0) => ({
  input_tokens: input,
  output_tokens: output,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: cacheRead,
});

describe("modelId()", () => {
  it.each(["large", "mid", "small"])("maps tier %s and its alias to the same model", (tier) => {
    const alias = { large: "opus", mid: "sonnet", small: "haiku" }[tier] ?? "";
    for (const driver of ["anthropic", "openai"] as const)
      expect(modelId(driver, alias)).toBe(modelId(driver, tier));
  });

  it("leaves an id as it is, and takes nothing as mid", () => {
    expect(modelId("anthropic", "claude-x")).toBe("claude-x");
    expect(modelId("anthropic", "")).toBe(modelId("anthropic", "mid"));
  });
});

describe("cardOf()", () => {
  it("knows a dated id by its undated one, and says when it knows none", () => {
    expect(cardOf("anthropic", "claude-haiku-4-5-20251001")).toMatchObject({
      known: true,
      maxOutputTokens: 64_000,
    });
    expect(cardOf("anthropic", "claude-9")).toMatchObject({ known: false, id: "claude-9" });
    expect(cardOf("anthropic", "claude-9").price).toBeUndefined();
  });

  it("shows the dearest rates, which are reserved", () => {
    expect(cardOf("anthropic", "haiku").price).toEqual({ input: 0.625, output: 2.5, cacheWrite1h: 1 });
  });
});

describe("costOf()", () => {
  it("prices cached input apart, and long requests as a whole", () => {
    expect(costOf("anthropic", "sonnet", usage(1_000_000, 100_000))).toBeCloseTo(3);
    expect(costOf("anthropic", "sonnet", usage(0, 0, 1_000_000))).toBeCloseTo(0.1);
    expect(costOf("anthropic", "haiku", usage(100_000))).toBeCloseTo(0.01);
    expect(costOf("anthropic", "haiku", usage(100_000, 0, 1))).toBeCloseTo(0.05);
  });

  it("is null where the price is not known, and 0 for Ollama", () => {
    expect(costOf("claude", "opus", usage(10))).toBeNull();
    expect(costOf("ollama", "llama", usage(10))).toBe(0);
    expect(costOf("ollama", "gpt-4o", usage(10))).toBe(0);
    expect(costOf("openai", "gpt-99", usage(10))).toBeNull();
  });

  it("has the list prices of models without a card", () => {
    expect(costOf("openai", "gpt-4o-mini-2024-07-18", usage(1_000_000, 1_000_000))).toBeCloseTo(0.75);
    expect(costOf("openai", "google/gemini-2.5-pro", usage(0, 100_000))).toBeCloseTo(1);
    expect(costOf("anthropic", "claude-3-5-haiku-20241022", usage(1_000_000))).toBeCloseTo(0.8);
    expect(cardOf("openai", "gpt-4o")).toMatchObject({ known: false, price: { input: 2.5, output: 10 } });
  });
});
