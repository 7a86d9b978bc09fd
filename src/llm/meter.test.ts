import { expect, it } from "vitest";
import type { Usage } from "../abi/llm.ts";
import type { AttemptRequest, Driver } from "./driver.ts";
import { Meter } from "./meter.ts";
import { isSameModel } from "./names.ts";

const usage: Usage = {
  input_tokens: 10,
  output_tokens: 5,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
};
const prices: Readonly<Record<string, number>> = { "big-1": 2, "small-1": 1 };
const driver = {
  card: (model: string) => ({ id: model || "big-1" }),
  cost: (model: string) => prices[model] ?? null,
} as unknown as Driver;

function charge(asked: string, answered: string, own?: string) {
  const price = { input: 1e6, output: 0, cacheRead: 0, cacheWrite: 0 };
  const meter = new Meter((id) => (id === own ? price : undefined));
  meter.see({ type: "message_start", message: { id: "1", model: answered, usage } });
  meter.see({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage });
  meter.see({ type: "message_stop" });
  return meter.charge(driver, { model: asked, purpose: "main" } as AttemptRequest, undefined);
}

it.each([
  // asked, answered: which model is told, at what price
  ["big-1", "big-1", "big-1", 2],
  ["big-1", "big-1-20260101", "big-1-20260101", 2],
  ["", "big-1", "big-1", 2],
  ["big-1", "", "big-1", 2],
])("charge() of %j answered by %j", (asked, answered, model, usd) => {
  expect(charge(asked, answered)).toMatchObject({ model, usd });
  expect(charge(asked, answered)).not.toHaveProperty("askedModel");
});

it("charge() tells which model answered where it is another one, at that one's price or none", () => {
  expect(charge("big-1", "small-1")).toMatchObject({ model: "small-1", askedModel: "big-1", usd: 1 });
  expect(charge("big-1", "mystery")).toMatchObject({ model: "mystery", askedModel: "big-1", usd: null });
});

it("charge() takes a person's own price by either name", () => {
  expect(charge("big-1", "mystery", "mystery").usd).toBe(10);
  expect(charge("big-1", "mystery", "big-1").usd).toBe(10);
});

it.each([
  ["opus", "claude-opus-5-5", true],
  ["vendor/x-latest", "x-20260101", true],
  ["sonnet[1m]", "claude-sonnet-5-5", true],
  ["deepseek-chat", "deepseek-chat:free", true],
  ["opus", "gpt-6.1-sol", false],
  ["claude-opus-5-5", "claude-haiku-5-5", false],
])("isSameModel(%j, %j)", (asked, answered, same) => {
  expect(isSameModel(asked, answered)).toBe(same);
});
