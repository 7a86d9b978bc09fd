import { describe, expect, it } from "vitest";
import { EFFORTS } from "../abi/llm.ts";
import { findRow, MODEL_TABLE } from "./model-table.ts";

describe("findRow()", () => {
  it.each([
    ["deepseek-chat", 0.28],
    ["deepseek/deepseek-chat", 0.28],
    ["claude-sonnet-4-5-20250929", 3],
    ["claude-3-5-sonnet-latest", 3],
    ["gemini-2.5-pro-preview-05-06", 1.25],
    ["O4-mini-2025-04-16", 1.1],
    ["mistral-medium-2508", 0.4],
    ["us.anthropic.claude-haiku-4-5-20251001-v1:0", 1],
    ["anthropic.claude-opus-5-5", 4],
    ["claude-sonnet-4-5@20250929", 3],
  ])("knows %s", (id, input) => {
    expect(findRow(id)?.price?.input).toBe(input);
  });

  it.each(["", "gpt-4o-turbo", "deepseek/deepseek-chat:free", "my-gpt-4o", "llama-3", "4o"])(
    "does not guess the price of %j",
    (id) => {
      expect(findRow(id)?.price).toBeUndefined();
    },
  );

  it("names each model once, with the page and month in which it was read", () => {
    const ids = MODEL_TABLE.flatMap(({ rows }) => rows).flatMap((row) => row.ids);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { page, seen } of MODEL_TABLE)
      expect(`${page} ${seen}`).toMatch(/^[a-z.-]+\/\S+ \d{4}-\d{2}$/);
  });

  it("lists levels of effort in ascending order", () => {
    for (const { ids, effort = [] } of MODEL_TABLE.flatMap(({ rows }) => rows))
      expect([ids, ...effort]).toEqual([ids, ...EFFORTS.filter((level) => effort.includes(level))]);
  });
});
