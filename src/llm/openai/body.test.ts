import { describe, expect, it } from "vitest";
import { cardOf } from "../cards.ts";
import { contractRequest } from "../contract.ts";
import { chatBody, quirksOf } from "./body.ts";

const card = (id: string) => cardOf("openai", id);
const vendor = quirksOf("https://api.openai.com/v1");
const other = quirksOf("http://127.0.0.1:8000/v1");

describe("chatBody()", () => {
  it("answers each call with a message of its own, before any text", () => {
    const { messages } = chatBody(
      contractRequest({
        messages: [
          { role: "user", content: [{ type: "text", text: "Go" }] },
          {
            role: "assistant",
            content: [
              { type: "thinking", thinking: "hidden", signature: "s" },
              { type: "tool_use", id: "a", name: "view", input: { path: "x" } },
            ],
          },
          {
            role: "user",
            content: [
              { type: "text", text: "and this" },
              { type: "tool_result", tool_use_id: "a", content: "boom", is_error: true },
            ],
          },
        ],
      }),
      card("m"),
      10,
      other,
    );
    expect(messages).toEqual([
      { role: "system", content: "You are a test." },
      { role: "user", content: "Go" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "a", type: "function", function: { name: "view", arguments: '{"path":"x"}' } }],
      },
      { role: "tool", tool_call_id: "a", content: "Error: boom" },
      { role: "user", content: "and this" },
    ]);
  });

  it.each([
    ["begun\nError [TIMEOUT]: the command was ended after 300 ms\nGive it a longer timeout", ""],
    ["Error [NOT_FOUND]: file not found: a", ""],
    ["a server's own words", "Error: "],
    ["no Error [TIMEOUT]: of this call", "Error: "],
  ])("puts a word before a failure only where its text does not say it: %j", (content, word) => {
    const block = { type: "tool_result", tool_use_id: "a", content, is_error: true } as const;
    const request = contractRequest({ messages: [{ role: "user", content: [block] }] });
    const { messages } = chatBody(request, card("m"), 10, other);
    expect(messages).toContainEqual({ role: "tool", tool_call_id: "a", content: word + content });
  });

  it.each([
    ["gpt-6.1-terra", "none"],
    ["gpt-5.6", "none"],
    ["gpt-5.5", undefined],
    ["gpt-4o", undefined],
  ])("sends %s at the vendor's reasoning effort %s along with tools", (model, effort) => {
    expect(chatBody(contractRequest(), card(model), 10, vendor).reasoning_effort).toBe(effort);
    expect(chatBody(contractRequest(), card(model), 10, other).reasoning_effort).toBeUndefined();
    expect(
      chatBody(contractRequest({ tools: [] }), card(model), 10, vendor).reasoning_effort,
    ).toBeUndefined();
  });

  it("names the output limit as the server expects it", () => {
    expect(chatBody(contractRequest(), card("m"), 10, vendor)).toMatchObject({ max_completion_tokens: 10 });
    expect(chatBody(contractRequest(), card("m"), 10, other)).toMatchObject({ max_tokens: 10 });
  });

  it("echoes reasoning, even empty, only where it is asked for", () => {
    const call = { type: "tool_use" as const, id: "a", name: "view", input: {} };
    const messages = [{ role: "assistant" as const, content: [call] }];
    const echo = chatBody(
      contractRequest({ messages }),
      card("m"),
      1,
      quirksOf("https://api.deepseek.com/v1"),
    );
    expect(JSON.stringify(echo.messages)).toContain('"reasoning_content":""');
    expect(JSON.stringify(chatBody(contractRequest({ messages }), card("m"), 1, other))).not.toContain(
      "reasoning_content",
    );
  });

  it("sends the effort that the model has, and no temperature with thinking", () => {
    const request = contractRequest({
      tools: [],
      effort: "max",
      temperature: 0,
      thinking: { mode: "adaptive" },
    });
    const sent = (id: string) => chatBody(request, card(id), 10, other);
    expect(sent("gpt-5")).toMatchObject({ reasoning_effort: "high" });
    expect(sent("openai/gpt-oss-120b")).toMatchObject({ reasoning_effort: "high" });
    expect(sent("gpt-6.1-terra")).toMatchObject({ reasoning_effort: "max" });
    expect(sent("gpt-4o")).not.toHaveProperty("reasoning_effort");
    for (const id of ["gpt-5", "gpt-4o"]) expect(sent(id)).not.toHaveProperty("temperature");
    const cool = contractRequest({ tools: [], temperature: 0 });
    expect(chatBody(cool, card("gpt-4o"), 10, other)).toMatchObject({ temperature: 0 });
    expect(chatBody(cool, card("gpt-5"), 10, other)).not.toHaveProperty("temperature");
  });
});
