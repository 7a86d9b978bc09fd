/** A picture of the user as the body of each vendor's request has it: after the words, and after the results of calls. */
import { expect, test } from "vitest";
import type { WireMessage } from "../abi/llm.ts";
import { messagesBody } from "./anthropic/body.ts";
import { cardOf } from "./cards.ts";
import { NOT_SHOWN } from "./claude/continuation.ts";
import { renderHistory } from "./claude/history.ts";
import { contractRequest } from "./contract.ts";
import { estimateInput } from "./estimate.ts";
import { geminiBody } from "./gemini/body.ts";
import { ollamaBody } from "./ollama/body.ts";
import { chatBody, quirksOf } from "./openai/body.ts";
import { responsesBody } from "./responses/body.ts";

const DATA = "AAAA";
const picture = { type: "image", media_type: "image/png", data: DATA } as const;
const messages: WireMessage[] = [
  { role: "user", content: [{ type: "text", text: "look" }, picture] },
  { role: "assistant", content: [{ type: "tool_use", id: "c", name: "ls", input: {} }] },
  { role: "user", content: [{ type: "tool_result", tool_use_id: "c", content: "a" }, picture] },
];
const request = contractRequest({ messages, cacheTtl: "off" });
const url = `data:image/png;base64,${DATA}`;

test("Messages", () => {
  const body = JSON.parse(messagesBody(request, { before: {}, after: {} }));
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data: DATA } };
  expect(body.messages[0].content).toEqual([{ type: "text", text: "look" }, image]);
  expect(body.messages[2].content).toMatchObject([{ type: "tool_result" }, image]);
});

test("Chat Completions", () => {
  const body = chatBody(request, cardOf("openai", "m"), 9, quirksOf("http://127.0.0.1/v1"));
  const image = { type: "image_url", image_url: { url } };
  const [, first, , result, second] = body.messages as object[];
  expect(first).toEqual({ role: "user", content: [{ type: "text", text: "look" }, image] });
  expect([result, second]).toMatchObject([{ role: "tool" }, { role: "user", content: [image] }]);
});

test("Responses", () => {
  const manner = { reasons: () => false, effort: () => undefined };
  const maker = { driver: "openai", model: "m" } as never;
  const { input } = JSON.parse(responsesBody(request, maker, { maxOutputTokens: 99, manner }));
  const image = { type: "input_image", image_url: url, detail: "auto" };
  expect(input[0].content).toEqual([{ type: "input_text", text: "look" }, image]);
  expect(input.slice(2)).toMatchObject([{ type: "function_call_output" }, { content: [image] }]);
});

test("generateContent", () => {
  const { contents } = JSON.parse(geminiBody(request, cardOf("gemini", "m"), 9));
  const image = { inlineData: { mimeType: "image/png", data: DATA } };
  expect(contents[0].parts).toEqual([{ text: "look" }, image]);
  expect(contents[2].parts).toMatchObject([{ functionResponse: {} }, image]);
});

test("Ollama", () => {
  const room = { context: 9, maxOutputTokens: 9, thinks: false };
  const [, first, , ...rest] = ollamaBody(request, "m", room).messages as object[];
  expect(first).toEqual({ role: "user", content: "look", images: [DATA] });
  expect(rest).toMatchObject([{ role: "tool" }, { role: "user", images: [DATA] }]);
});

test("a program that takes text only is told that there is one", () => {
  expect(renderHistory(messages)).toContain(`look\n### user\n${NOT_SHOWN}`);
});

test("is estimated by its pixels, or as most are", () => {
  const tokens = (content: WireMessage["content"]) =>
    estimateInput(contractRequest({ messages: [{ role: "user", content }] })) -
    estimateInput(contractRequest({ messages: [{ role: "user", content: [] }] }));
  const png = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n0000IHDR", "latin1"), Buffer.alloc(8)]);
  png.writeUInt32BE(1_000, 16);
  png.writeUInt32BE(750, 20);
  expect(tokens([{ ...picture, data: png.toString("base64") }])).toBe(1_000);
  expect(tokens([{ ...picture, data: "A".repeat(80_000) }])).toBe(2_000);
  const pdf = { type: "document", media_type: "application/pdf" } as const;
  expect(tokens([{ ...pdf, data: "A" }])).toBe(2_000);
  expect(tokens([{ ...pdf, data: "A".repeat(80_000) }])).toBe(10_000);
});
