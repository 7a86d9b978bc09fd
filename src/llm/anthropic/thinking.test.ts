import { describe, expect, it } from "vitest";
import type { WireMessage } from "../../abi/llm.ts";
import { cardOf } from "../cards.ts";
import { contractRequest } from "../contract.ts";
import type { AttemptRequest } from "../driver.ts";
import { betasOf, thinkingPart } from "./thinking.ts";

const adaptive = { mode: "adaptive" } as const;
const told = (id: string, part: Partial<AttemptRequest>, most = 8_000) =>
  thinkingPart(contractRequest(part), cardOf("anthropic", id), most);

describe("thinkingPart()", () => {
  it.each([
    ["claude-opus-5-5", { type: "adaptive" }, undefined],
    ["claude-sonnet-5-5", { type: "adaptive" }, { type: "between_tools" }],
    ["claude-haiku-5-5", { type: "adaptive" }, { type: "disabled" }],
    ["claude-opus-4-6", { type: "adaptive" }, undefined],
    ["claude-sonnet-4-5", { type: "enabled", budget_tokens: 6_000 }, undefined],
    ["claude-3-5-sonnet", undefined, undefined],
    ["claude-99", undefined, undefined],
  ])("of %s is as the model has it: asked %j, not asked %j", (id, asked, not) => {
    expect(told(id, { thinking: adaptive }).thinking).toEqual(asked);
    expect(told(id, {}).thinking).toEqual(not);
  });

  it("keeps the budget below the output limit, and gives none where too little is left", () => {
    const budgets = [1_000, 1_400, 4_000, 64_000].map(
      (most) => told("claude-haiku-4-5", { thinking: adaptive }, most).thinking?.budget_tokens,
    );
    expect(budgets).toEqual([undefined, 1_050, 3_000, 8_192]);
    expect(told("claude-haiku-4-5", { thinking: { mode: "budget", tokens: 5_000 } }).thinking).toEqual({
      type: "enabled",
      budget_tokens: 5_000,
    });
    expect(told("claude-haiku-4-5", { thinking: adaptive, effort: "low" }).thinking?.budget_tokens).toBe(
      2_048,
    );
  });

  it("does not think up to a budget about the results of calls that were made without thinking", () => {
    const call = { type: "tool_use", id: "a", name: "ls", input: {} } as const;
    const thought = { type: "thinking", thinking: "Hm.", signature: "s" } as const;
    const after = (content: WireMessage["content"]): WireMessage[] => [
      ...contractRequest().messages,
      { role: "assistant", content },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: "r" }] },
    ];
    const thinks = (content: WireMessage["content"]) =>
      told("claude-haiku-4-5", { thinking: adaptive, messages: after(content) }).thinking;
    expect(thinks([call])).toBeUndefined();
    expect(thinks([{ ...thought, signature: "" }, call])).toBeUndefined();
    expect(thinks([thought, call])).toBeDefined();
  });

  it("sends the effort that the model has, or the next lower one", () => {
    expect(told("claude-opus-5-5", { effort: "xhigh" }).output_config).toEqual({ effort: "xhigh" });
    expect(told("claude-opus-4-6", { effort: "xhigh" }).output_config).toEqual({ effort: "high" });
    expect(told("claude-haiku-4-5", { effort: "high" }).output_config).toBeUndefined();
    expect(told("claude-opus-5-5", {}).output_config).toBeUndefined();
  });

  it("sends a temperature never with thinking, and never to a model that refuses it", () => {
    expect(told("claude-haiku-4-5", { temperature: 0 })).toEqual({ temperature: 0 });
    expect(told("claude-haiku-4-5", { temperature: 0, thinking: adaptive }).temperature).toBeUndefined();
    expect(told("claude-haiku-5-5", { temperature: 0 }).temperature).toBeUndefined();
  });
});

describe("betasOf()", () => {
  it("names thinking between calls for models that have it only so, where there are tools", () => {
    const betas = (id: string, part: Partial<AttemptRequest>) => {
      const request = contractRequest({ model: id, thinking: adaptive, ...part });
      const card = cardOf("anthropic", id);
      return betasOf(request, card, thinkingPart(request, card, 8_000));
    };
    expect(betas("claude-haiku-4-5", {})).toEqual(["interleaved-thinking-2025-05-14"]);
    expect(betas("claude-haiku-4-5", { tools: [] })).toEqual([]);
    expect(betas("claude-opus-5-5", {})).toEqual([]);
    expect(betas("claude-haiku-4-5[1m]", { tools: [] })).toEqual(["context-1m-2025-08-07"]);
    expect(cardOf("anthropic", "claude-haiku-4-5[1m]").id).toBe("claude-haiku-4-5");
  });
});
