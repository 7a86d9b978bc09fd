/** The vendors' own clients are the judges of the wire formats. */
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { afterEach, describe, expect, it } from "vitest";
import { blocks, cut, error, overloaded, rateLimit, stall, text, thinking, toolUse } from "./reply.ts";
import { type ModelServer, type ModelServerOptions, startModelServer } from "./server.ts";

let server: ModelServer;
afterEach(() => server.close());

const start = async (script: ModelServerOptions["script"]) => {
  server = await startModelServer({ script, apiKey: "key" });
  return {
    claude: new Anthropic({ apiKey: "key", baseURL: server.anthropicBaseUrl, maxRetries: 0 }),
    gpt: new OpenAI({ apiKey: "key", baseURL: server.openaiBaseUrl, maxRetries: 0 }),
  };
};

const claudeRequest = {
  model: "claude-test",
  max_tokens: 100,
  messages: [{ role: "user", content: "hello" }],
} satisfies Anthropic.MessageCreateParamsNonStreaming;
const gptRequest = {
  model: "gpt-test",
  messages: [{ role: "user", content: "hello" }],
} satisfies OpenAI.ChatCompletionCreateParamsNonStreaming;

const encrypted = ["reasoning.encrypted_content" as const];
const responseRequest = { model: "gpt-test", input: "hello" };

const everything = blocks(
  thinking("Let me see."),
  "grün € 😀",
  toolUse([
    { name: "ls", input: { path: "ü/日本" }, id: "t1" },
    { name: "rm", input: {}, id: "t2" },
  ]),
  "and then",
).usage({ input: 3, output: 9 });

describe("@anthropic-ai/sdk", () => {
  it.each([
    ["plain", everything],
    ["in fragments", everything.fragment(1)],
    ["split in the middle of characters", everything.splitEvery(2)],
    ["with noise", everything.noise().splitEvery(11)],
  ])("accumulates a stream %s", async (_name, reply) => {
    const { claude } = await start([reply]);
    const message = await claude.messages.stream(claudeRequest).finalMessage();
    expect(message).toMatchObject({
      stop_reason: "tool_use",
      usage: { input_tokens: 3, output_tokens: 9 },
      content: [
        { type: "thinking", thinking: "Let me see.", signature: expect.any(String) },
        { type: "text", text: "grün € 😀" },
        { type: "tool_use", id: "t1", name: "ls", input: { path: "ü/日本" } },
        { type: "tool_use", id: "t2", name: "rm", input: {} },
        { type: "text", text: "and then" },
      ],
    });
  });

  it("reads complete messages, models and token counts", async () => {
    const { claude } = await start([everything]);
    const message = await claude.messages.create(claudeRequest);
    expect(message.content.map((block) => block.type)).toEqual([
      "thinking",
      "text",
      "tool_use",
      "tool_use",
      "text",
    ]);
    expect(message._request_id).toMatch(/^req_/);
    expect((await claude.models.list()).data.length).toBeGreaterThan(1);
    const { max_tokens: _, ...count } = claudeRequest;
    expect((await claude.messages.countTokens(count)).input_tokens).toBeGreaterThan(0);
  });

  it("maps each error to its class", async () => {
    const { claude } = await start([overloaded(), rateLimit({ retryAfter: 9 }), error(400), error(403)]);
    const ask = () =>
      claude.messages.create({ ...claudeRequest, stream: true }).catch((failure: unknown) => failure);
    const first = await ask();
    expect(first).toBeInstanceOf(Anthropic.InternalServerError);
    expect(first).toMatchObject({ status: 529, error: { error: { type: "overloaded_error" } } });
    const second = await ask();
    expect(second).toBeInstanceOf(Anthropic.RateLimitError);
    expect((second as InstanceType<typeof Anthropic.RateLimitError>).headers.get("retry-after")).toBe("9");
    expect(await ask()).toBeInstanceOf(Anthropic.BadRequestError);
    expect(await ask()).toBeInstanceOf(Anthropic.PermissionDeniedError);
    const other = new Anthropic({ apiKey: "wrong", baseURL: server.url, maxRetries: 0 });
    await expect(other.messages.create(claudeRequest)).rejects.toBeInstanceOf(Anthropic.AuthenticationError);
  });

  it("fails on an error event, a cut and a truncation in mid stream", async () => {
    const { claude } = await start([
      text("abc").fragment(1).fail(overloaded(), { afterEvents: 4 }),
      cut({ afterEvents: 4 }),
      text("abc").fragment(1).truncate({ afterEvents: 4 }),
    ]);
    const ask = () => claude.messages.stream(claudeRequest).finalMessage();
    await expect(ask()).rejects.toThrow(/overloaded_error/);
    await expect(ask()).rejects.toThrow();
    await expect(ask()).rejects.toThrow();
    expect(server.requestCount).toBe(3);
  });

  it("closes the connection of a stalled stream on abort", async () => {
    const { claude } = await start([stall({ afterEvents: 3 })]);
    const stream = claude.messages.stream(claudeRequest);
    const failed = expect(stream.finalMessage()).rejects.toBeInstanceOf(Anthropic.APIUserAbortError);
    await server.waitFor(() => server.inFlight === 1);
    stream.abort();
    await failed;
    await server.waitFor(() => server.aborted.length === 1 && server.inFlight === 0);
  });
});

describe("openai", () => {
  it.each([
    ["plain", everything],
    ["in fragments", everything.fragment(1)],
    ["split in the middle of characters", everything.splitEvery(2)],
    ["with noise", everything.noise().splitEvery(11)],
  ])("accumulates a stream %s", async (_name, reply) => {
    const { gpt } = await start([reply]);
    const params = { ...gptRequest, stream_options: { include_usage: true } };
    const completion = await gpt.chat.completions.stream(params).finalChatCompletion();
    expect(completion.choices[0]!.finish_reason).toBe("tool_calls");
    expect(completion.usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 9, total_tokens: 12 });
    expect(completion.choices[0]!.message).toMatchObject({
      content: "grün € 😀and then",
      tool_calls: [
        { id: "t1", function: { name: "ls", arguments: '{"path":"ü/日本"}' } },
        { id: "t2", function: { name: "rm", arguments: "{}" } },
      ],
    });
  });

  it.each([
    ["plain", everything],
    ["in fragments", everything.fragment(1)],
    ["split in the middle of characters", everything.splitEvery(2)],
  ])("accumulates a stream of responses %s", async (_name, reply) => {
    const { gpt } = await start([reply]);
    const stream = gpt.responses.stream({ ...responseRequest, include: encrypted });
    const types = new Set<string>();
    stream.on("event", ({ type }) => types.add(type));
    const response = await stream.finalResponse();
    expect(response).toMatchObject({
      status: "completed",
      usage: { input_tokens: 3, output_tokens: 9, total_tokens: 12 },
      output: [
        { type: "reasoning", summary: [{ text: "Let me see." }], encrypted_content: expect.any(String) },
        { type: "message", content: [{ type: "output_text", text: "grün € 😀" }] },
        { type: "function_call", call_id: "t1", name: "ls", arguments: '{"path":"ü/日本"}' },
        { type: "function_call", call_id: "t2", name: "rm", arguments: "{}" },
        { type: "message", content: [{ type: "output_text", text: "and then" }] },
      ],
    });
    for (const type of ["created", "reasoning_summary_text.delta", "output_text.delta"])
      expect(types).toContain(`response.${type}`);
  });

  it("takes its own output back as the input of a response", async () => {
    const { gpt } = await start([everything, text("Done.")]);
    const first = await gpt.responses
      .stream({ ...responseRequest, store: false, include: encrypted })
      .finalResponse();
    const outputs = ["t1", "t2"].map((call_id) => ({
      type: "function_call_output" as const,
      call_id,
      output: "x",
    }));
    const input = [{ role: "user" as const, content: "hello" }, ...first.output, ...outputs];
    const second = await gpt.responses.create({
      ...responseRequest,
      store: false,
      input: input as OpenAI.Responses.ResponseInput,
    });
    expect(second.output_text).toBe("Done.");
  });

  it("tells a response that was cut short, refused, or failed in mid stream", async () => {
    const { gpt } = await start([
      text("abc").stop("max_tokens"),
      text("abc").stop("refusal"),
      text("abc").fragment(1).fail(error(500), { afterEvents: 4 }),
    ]);
    const ask = () => gpt.responses.stream(responseRequest).finalResponse();
    const incomplete = { status: "incomplete", output_text: "abc" };
    expect(await ask()).toMatchObject({ ...incomplete, incomplete_details: { reason: "max_output_tokens" } });
    expect(await ask()).toMatchObject({ ...incomplete, incomplete_details: { reason: "content_filter" } });
    await expect(ask()).rejects.toThrow(/server had an error/);
  });

  it("reads complete answers and models", async () => {
    const { gpt } = await start([text("hi")]);
    const completion = await gpt.chat.completions.create(gptRequest);
    expect(completion.choices[0]!.message.content).toBe("hi");
    expect((await gpt.models.list()).data.length).toBeGreaterThan(1);
  });

  it("maps each error to its class", async () => {
    const { gpt } = await start([rateLimit(), error(500), error(400), error(404)]);
    const ask = () => gpt.chat.completions.create(gptRequest).catch((failure: unknown) => failure);
    expect(await ask()).toBeInstanceOf(OpenAI.RateLimitError);
    expect(await ask()).toBeInstanceOf(OpenAI.InternalServerError);
    expect(await ask()).toBeInstanceOf(OpenAI.BadRequestError);
    expect(await ask()).toBeInstanceOf(OpenAI.NotFoundError);
    const other = new OpenAI({ apiKey: "wrong", baseURL: server.openaiBaseUrl, maxRetries: 0 });
    await expect(other.chat.completions.create(gptRequest)).rejects.toMatchObject({
      code: "invalid_api_key",
    });
  });

  it("fails on an error and a cut in mid stream, and aborts a stalled one", async () => {
    const { gpt } = await start([
      text("abc").fragment(1).fail(error(500), { afterEvents: 2 }),
      cut({ afterEvents: 2 }),
      stall({ afterEvents: 2 }),
    ]);
    const ask = () => gpt.chat.completions.stream(gptRequest);
    await expect(ask().finalChatCompletion()).rejects.toThrow(/server had an error/);
    await expect(ask().finalChatCompletion()).rejects.toThrow();
    const stalled = ask();
    const failed = expect(stalled.finalChatCompletion()).rejects.toBeInstanceOf(OpenAI.APIUserAbortError);
    await server.waitFor(() => server.requestCount === 3);
    stalled.abort();
    await failed;
    await server.waitFor(() => server.aborted.length === 1);
  });
});
