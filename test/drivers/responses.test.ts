import { describe, expect, it } from "vitest";
import type { Block } from "../../src/abi/llm.ts";
import { contractRequest, driverContract } from "../../src/llm/contract.ts";
import { fold } from "../../src/llm/fold.ts";
import type { HttpDriver } from "../../src/llm/http/http-driver.ts";
import { openaiDriver } from "../../src/llm/responses/openai.ts";
import { xaiDriver } from "../../src/llm/xai/xai.ts";
import { blocks, error, text, thinking, toolUse } from "../model-server/reply.ts";
import type { ModelServer } from "../model-server/server.ts";
import { API_ERRORS, serve, serverRig } from "./rig.ts";

const KEY = "test-key-0123456789";
const openai = (server: ModelServer, OPENAI_API_KEY = KEY): HttpDriver =>
  openaiDriver({
    OPENAI_API_KEY,
    OPENAI_BASE_URL: server.openaiBaseUrl,
    OPENAI_MODEL: "test-model",
    CRUX_OPENAI_API: "responses",
  });
const xai = (server: ModelServer): HttpDriver =>
  xaiDriver({ XAI_API_KEY: KEY, XAI_BASE_URL: server.openaiBaseUrl });

for (const [name, connect] of [
  ["openai (responses)", openai],
  ["xai", xai],
] as const) {
  driverContract(
    serverRig({
      name,
      connect: (server) => connect(server),
      stops: ["end_turn", "max_tokens", "refusal"],
      errors: API_ERRORS,
      can: { thinking: true, retryAfter: true, interleave: true },
    }),
  );
}

describe("HttpDriver by the Responses interface", () => {
  const none = new AbortController().signal;
  const result = (id: string) => ({ type: "tool_result" as const, tool_use_id: id, content: "x" });
  const talkOf = (content: Block[]) => [
    ...contractRequest().messages,
    { role: "assistant" as const, content },
    {
      role: "user" as const,
      content: content.flatMap((block) => (block.type === "tool_use" ? [result(block.id)] : [])),
    },
  ];
  const script = [
    blocks(
      thinking("Let me see."),
      toolUse({ name: "view", input: {} }),
      thinking("And then."),
      toolUse({ name: "view", input: { path: "b" } }),
    ),
    text("Second."),
  ];

  it("stream() stores nothing with the server, and names the process for its cache", async () => {
    const server = await serve({ script: text("Hi."), apiKey: KEY });
    await fold(openai(server).stream(contractRequest({ process: "a-uuid" }), none));
    const { headers, body, path } = server.requests[0]!;
    expect(path).toBe("/v1/responses");
    expect(body).toMatchObject({
      model: "test-model",
      store: false,
      include: ["reasoning.encrypted_content"],
      prompt_cache_key: "a-uuid",
      max_output_tokens: 1000,
    });
    expect(body.reasoning).toBeUndefined();
    expect(headers["user-agent"]).toMatch(/^crux\/\d/);
  });

  it("stream() sends reasoning back before the call it led to", async () => {
    const server = await serve({ script, verifySignatures: true });
    const driver = openai(server);
    const first = await fold(driver.stream(contractRequest(), none));
    const second = await fold(driver.stream(contractRequest({ messages: talkOf(first.blocks) }), none));
    expect(second.blocks).toEqual([{ type: "text", text: "Second." }]);
    const input = server.requests[1]!.body.input as { type: string }[];
    expect(input.map(({ type }) => type)).toEqual([
      "message",
      "reasoning",
      "function_call",
      "reasoning",
      "function_call",
      "function_call_output",
      "function_call_output",
    ]);
  });

  it("stream() keeps reasoning from another model and another account", async () => {
    const server = await serve({ script: [...script, text("Third.")], verifySignatures: true });
    const first = await fold(openai(server).stream(contractRequest(), none));
    const messages = talkOf(first.blocks);
    await fold(openai(server).stream(contractRequest({ messages, model: "other" }), none));
    await fold(openai(server, "another-key").stream(contractRequest({ messages }), none));
    for (const { body } of server.requests.slice(1)) expect(JSON.stringify(body)).not.toContain('reasoning"');
  });

  it("stream() counts cached, written and reasoning tokens", async () => {
    const reply = text("Hi.").usage({ input: 10, output: 9, cacheRead: 30, cacheWrite: 5, reasoning: 7 });
    const server = await serve({ script: reply });
    expect((await fold(openai(server).stream(contractRequest(), none))).usage).toEqual({
      input_tokens: 10,
      output_tokens: 9,
      cache_creation_input_tokens: 5,
      cache_read_input_tokens: 30,
      reasoning_tokens: 7,
    });
  });

  it("stream() passes over what it does not know", async () => {
    const server = await serve({ script: text("Said once.").noise() });
    const reply = await fold(openai(server).stream(contractRequest(), none));
    expect(reply.blocks).toEqual([{ type: "text", text: "Said once." }]);
  });

  it("stream() maps an error within the stream, and one of its whole response", async () => {
    const failed = { code: "rate_limit_exceeded", message: "Slow down." };
    const event = { type: "response.failed", response: { id: "r", status: "failed", error: failed } };
    const raw = `event: response.failed\ndata: ${JSON.stringify(event)}\n\n`;
    const server = await serve({
      script: [
        text("Some text.").fail(error(500), { afterEvents: 4 }),
        text("Some text.").inject(raw, { afterEvents: 4 }),
      ],
    });
    const ask = () => fold(openai(server).stream(contractRequest(), none));
    await expect(ask()).rejects.toMatchObject({ kind: "server" });
    await expect(ask()).rejects.toMatchObject({
      kind: "rate_limit",
      message: expect.stringContaining("Slow"),
    });
  });

  it("stream() refuses a prompt that is too long for the model", async () => {
    const server = await serve({ script: text(""), contextWindowTokens: 10 });
    await expect(fold(openai(server).stream(contractRequest(), none))).rejects.toMatchObject({
      kind: "prompt_too_long",
    });
  });
});

describe("xaiDriver()", () => {
  const none = new AbortController().signal;

  it.each([
    ["grok-4.7", {}, { effort: "high" }],
    ["grok-4.7", { purpose: "helper" as const }, { effort: "low" }],
    ["grok-4.7", { effort: "medium" as const }, { effort: "medium" }],
    ["grok-4.7", { effort: "max" as const }, { effort: "high" }],
    ["grok-4", {}, undefined],
    ["grok-4.20-non-reasoning", { effort: "low" as const }, undefined],
  ])("stream() names the effort of %s explicitly, given %j: %j", async (model, part, reasoning) => {
    const server = await serve({ script: text("Hi."), apiKey: KEY });
    await fold(xai(server).stream(contractRequest({ model, ...part }), none));
    expect(server.requests[0]!.body.reasoning).toEqual(reasoning);
  });

  it("stream() without a key names its variable", async () => {
    const failure = await fold(xaiDriver({}).stream(contractRequest(), none)).catch((e: unknown) => e);
    expect(failure).toMatchObject({ code: "UNAVAILABLE", hint: expect.stringContaining("XAI_API_KEY") });
  });
});
