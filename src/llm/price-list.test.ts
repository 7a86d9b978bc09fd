import { describe, expect, it } from "vitest";
import { listPrice, PRICE_LIST } from "./price-list.ts";

describe("listPrice()", () => {
  it.each([
    ["deepseek-chat", 0.28],
    ["deepseek/deepseek-chat", 0.28],
    ["claude-sonnet-4-5-20250929", 3],
    ["claude-3-5-sonnet-latest", 3],
    ["gemini-2.5-pro-preview-05-06", 1.25],
    ["O4-mini-2025-04-16", 1.1],
    ["mistral-medium-2508", 0.4],
  ])("knows %s", (id, input) => {
    expect(listPrice(id)?.input).toBe(input);
  });

  it.each(["", "gpt-4o-turbo", "deepseek/deepseek-chat:free", "my-gpt-4o", "llama-3", "4o"])(
    "does not guess the price of %j",
    (id) => {
      expect(listPrice(id)).toBeUndefined();
    },
  );

  it("names each model once, with the page and month of its price", () => {
    const ids = PRICE_LIST.flatMap(({ rows }) => rows).flatMap((row) => row.ids);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { page, seen } of PRICE_LIST) expect(`${page} ${seen}`).toMatch(/^[a-z.-]+\/\S+ \d{4}-\d{2}$/);
  });
});
