import { expect, test } from "vitest";
import type { LlmRequest } from "../../abi/llm.ts";
import type { ContextMessage } from "../../abi/sys.ts";
import { mediaTokens } from "../../lib/tokens/media.ts";
import { estimateTokens } from "../../lib/tokens.ts";
import { encodedRequest, inputTokens, outputTokens } from "./request.ts";
import { toWireMessages } from "./wire-messages.ts";

test.each<
  [string, limit: number, used: number, reserved: number, input: number, wanted: number, expected: number]
>([
  ["without a limit what is wanted", 0, 9_999, 0, 5_000, 8_000, 8_000],
  ["far from the limit what is wanted", 100_000, 0, 0, 5_000, 8_000, 8_000],
  ["near it what is left", 10_000, 4_000, 1_000, 2_000, 8_000, 3_000],
  ["never less than a useful answer", 8_192, 8_000, 0, 2_000, 8_000, 1_024],
])("outputTokens() is %s", (_name, limit, used, reserved, input, wanted, expected) => {
  expect(outputTokens({ limit, used, reserved }, input, wanted)).toBe(expected);
});

test("inputTokens() is the estimate of the whole request, also when its messages come again", () => {
  const media = [{ type: "image", media_type: "image/png", data: "x".repeat(4_000) }] as const;
  const call = { type: "tool_use", id: "t1", name: "view", input: { path: "\u6f22.png" } } as const;
  const context: ContextMessage[] = [
    { role: "user", content: 'go \u6f22\u5b57 "quoted"' },
    { role: "assistant", content: "", blocks: [{ type: "text", text: "one" }, call] },
    { role: "tool", content: "shown", tool_call_id: "t1", media },
    { role: "user", content: "and?" },
  ];
  const system = [{ text: "be \u77ed", zone: "static" as const }];
  const tools = [{ name: "view", description: "d", inputSchema: { type: "object" } }];
  for (const count of [0, 1, 3, 4, 4]) {
    const messages = toWireMessages(context.slice(0, count));
    const words = JSON.stringify([system, tools, messages], (name, value) =>
      name === "media" ? undefined : value,
    );
    const shown = count >= 3 ? mediaTokens(media) : 0;
    expect(inputTokens(system, tools, messages)).toBe(estimateTokens(words) + shown);
  }
});

test("encodedRequest() is the JSON of the request, whatever came before", () => {
  const context: ContextMessage[] = [{ role: "user", content: 'go \u6f22 "quoted" \ud800' }];
  for (let n = 0; n < 5; n++) {
    context.push({ role: "assistant", content: "", blocks: [{ type: "text", text: `${n}` }] });
    context.push({ role: "user", content: `${n}?` });
    const more = n === 3 ? { stopSequences: ["x"] } : {};
    const request = { ...requestOf(toWireMessages(context)), requestId: `r${n}`, ...more };
    expect(Buffer.from(encodedRequest(request)).toString()).toBe(
      Buffer.from(JSON.stringify(request)).toString(),
    );
  }
  expect(JSON.parse(Buffer.from(encodedRequest({ ...requestOf([]), temperature: 0 })).toString())).toEqual({
    ...requestOf([]),
    temperature: 0,
  });
});

function requestOf(messages: LlmRequest["messages"]): LlmRequest {
  return {
    ...{ requestId: "r", purpose: "main", model: "m", system: [], tools: [] },
    ...{ messages, maxOutputTokens: 1, stream: false },
  };
}

test("toWireMessages() gives the same blocks for the same messages", () => {
  const context: ContextMessage[] = [
    { role: "user", content: "go" },
    { role: "assistant", content: "", blocks: [{ type: "tool_use", id: "t1", name: "ls", input: {} }] },
    { role: "tool", content: "a", tool_call_id: "t1", is_error: true },
  ];
  const [first, second] = [toWireMessages(context), toWireMessages(context)];
  expect(second).toEqual(first);
  for (const [i, { content }] of first.entries())
    for (const [at, block] of content.entries()) expect(second[i]?.content[at]).toBe(block);
});
