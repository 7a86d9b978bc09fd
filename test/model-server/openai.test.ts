import { afterEach, describe, expect, it } from "vitest";
import { askOpenai, openaiBody, readEvents, readSse, send } from "./raw-client.ts";
import { blocks, error, overloaded, rateLimit, text, thinking, toolUse } from "./reply.ts";
import { type ModelServer, type ModelServerOptions, startModelServer } from "./server.ts";

let server: ModelServer;
const start = async (script: ModelServerOptions["script"], options: Partial<ModelServerOptions> = {}) => {
  server = await startModelServer({ script, ...options });
};
afterEach(() => server.close());

const user = { role: "user", content: "hi" };
const calls = (...ids: string[]) => ({
  role: "assistant",
  content: null,
  tool_calls: ids.map((id) => ({ id, type: "function", function: { name: "ls", arguments: "{}" } })),
});
const tool = (id: string) => ({ role: "tool", tool_call_id: id, content: "x" });

interface Chunk {
  choices: { delta: Record<string, unknown>; finish_reason: string | null }[];
  usage?: unknown;
}
const chunksOf = (stream: string) => readEvents(stream) as unknown as Chunk[];

describe("streamed chunks", () => {
  it("begin with the role, end with finish reason, usage and [DONE]", async () => {
    await start([
      text("Hello there").fragment(6).usage({ input: 10, output: 5, cacheRead: 7, reasoning: 2 }),
    ]);
    const answer = await askOpenai(server, { stream_options: { include_usage: true } });
    const chunks = chunksOf(answer.text);
    expect(readSse(answer.text).at(-1)!.data).toBe("[DONE]");
    expect(chunks.map((chunk) => chunk.choices[0]?.delta)).toEqual([
      { role: "assistant", content: "", refusal: null },
      ...[{ content: "Hello " }, { content: "there" }, {}, undefined],
    ]);
    expect(chunks.map((chunk) => chunk.choices[0]?.finish_reason)).toEqual([
      null,
      null,
      null,
      "stop",
      undefined,
    ]);
    expect(chunks[0]!.usage).toBeNull();
    expect(chunks.at(-1)!.usage).toMatchObject({
      prompt_tokens: 17,
      completion_tokens: 5,
      total_tokens: 22,
      prompt_tokens_details: { cached_tokens: 7 },
      completion_tokens_details: { reasoning_tokens: 2 },
    });
  });

  it("have no usage unless asked for", async () => {
    await start([text("a")]);
    const chunks = chunksOf((await askOpenai(server)).text);
    expect(chunks.every((chunk) => !("usage" in chunk) && chunk.choices.length === 1)).toBe(true);
  });

  it("carry calls by index: id and name first, then argument fragments", async () => {
    const two = [
      { name: "ls", input: { path: "a long path for fragments" }, id: "call_a" },
      { name: "rm", input: {}, id: "call_b" },
    ];
    await start([toolUse(two, { text: "Doing." }).fragment(8)]);
    const chunks = chunksOf((await askOpenai(server)).text);
    const parts = chunks.flatMap(
      (chunk) => (chunk.choices[0]!.delta.tool_calls ?? []) as Record<string, unknown>[],
    );
    const first = parts.filter((part) => part.index === 0);
    expect(first[0]).toEqual({
      index: 0,
      id: "call_a",
      type: "function",
      function: { name: "ls", arguments: "" },
    });
    expect(first.length).toBeGreaterThan(3);
    expect(first.slice(1).every((part) => !("id" in part))).toBe(true);
    const joined = first.map((part) => (part.function as { arguments: string }).arguments).join("");
    expect(JSON.parse(joined)).toEqual({ path: "a long path for fragments" });
    expect(parts.filter((part) => part.index === 1).map((part) => part.id)).toEqual(["call_b", undefined]);
    expect(chunks.at(-1)!.choices[0]!.finish_reason).toBe("tool_calls");
  });

  it.each([
    ["max_tokens", "length"],
    ["refusal", "content_filter"],
    ["end_turn", "stop"],
    ["strange", "strange"],
  ])("translate the stop reason %s", async (reason, finish) => {
    await start([text("a").stop(reason)]);
    expect(chunksOf((await askOpenai(server)).text).at(-1)!.choices[0]!.finish_reason).toBe(finish);
  });

  it("carry thinking as reasoning_content", async () => {
    await start([thinking("why").and("so")]);
    const deltas = chunksOf((await askOpenai(server)).text).map((chunk) => chunk.choices[0]!.delta);
    expect(deltas.slice(1, 3)).toEqual([{ reasoning_content: "why" }, { content: "so" }]);
  });
});

describe("complete answers", () => {
  it("hold text, calls and usage", async () => {
    await start([blocks("Hi", toolUse({ name: "ls", input: { a: 1 }, id: "call_x" }))]);
    const answer = JSON.parse((await askOpenai(server, { stream: false })).text);
    expect(answer).toMatchObject({
      object: "chat.completion",
      choices: [
        {
          index: 0,
          finish_reason: "tool_calls",
          message: {
            role: "assistant",
            content: "Hi",
            tool_calls: [{ id: "call_x", type: "function", function: { name: "ls", arguments: '{"a":1}' } }],
          },
        },
      ],
      usage: { total_tokens: expect.any(Number) },
    });
  });

  it("are found at any base URL, with or without /v1", async () => {
    await start(text("a"));
    for (const base of ["", "/v1", "/proxy/openai/v1"]) {
      expect((await send(`${server.url}${base}/chat/completions`, openaiBody()).answer).status).toBe(200);
    }
  });
});

describe("errors", () => {
  it.each([
    [overloaded(), 503, { type: "server_error", code: null }],
    [rateLimit({ retryAfter: 3 }), 429, { type: "requests", code: "rate_limit_exceeded" }],
    [error(500), 500, { type: "server_error", code: null }],
    [error(401), 401, { type: "invalid_request_error", code: "invalid_api_key" }],
    [error(404), 404, { code: "model_not_found" }],
    [
      error(429, "insufficient_quota", "pay", {}, { code: "insufficient_quota" }),
      429,
      { type: "insufficient_quota", message: "pay", code: "insufficient_quota" },
    ],
  ])("are translated %#", async (reply, status, body) => {
    await start([reply]);
    const answer = await askOpenai(server);
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.text).error).toMatchObject(body);
    expect(Object.keys(JSON.parse(answer.text).error)).toEqual(["message", "type", "param", "code"]);
    expect(answer.headers["x-request-id"]).toBeDefined();
  });

  it("come as a data line in mid stream", async () => {
    await start([text("one two").fragment(1).fail(error(500), { afterEvents: 3 })]);
    const events = readSse((await askOpenai(server)).text);
    expect(events).toHaveLength(4);
    expect(JSON.parse(events.at(-1)!.data).error.type).toBe("server_error");
  });
});

describe("requests the vendor refuses", () => {
  it.each([
    ["an unanswered call", [user, calls("a", "b"), tool("a"), user], /did not have response messages: b$/],
    ["a call at the end", [user, calls("a")], /did not have response messages: a$/],
    ["a message between", [user, calls("a", "b"), tool("a"), user, tool("b")], /response messages: b$/],
    ["a result without call", [user, tool("a")], /must be a response to a preceeding message/],
    ["a result given twice", [user, calls("a"), tool("a"), tool("a")], /must be a response/],
    ["no messages", [], /empty array/],
    ["null content", [{ role: "user", content: null }], /expected a string, got null/],
    ["an unknown role", [{ role: "robot", content: "x" }], /Invalid value: 'robot'/],
    [
      "an empty list of calls",
      [user, { ...calls(), content: "x" }, user],
      /'messages\[1\]\.tool_calls': empty array/,
    ],
  ])("%s", async (_name, messages, message) => {
    await start(text("taken"));
    const answer = await askOpenai(server, { messages });
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.text).error.message).toMatch(message);
    expect(JSON.parse(answer.text).error.type).toBe("invalid_request_error");
  });

  it.each([
    [{ tools: [] }, /'tools': empty array/],
    [{ tools: [{ type: "function", function: { name: "a.b" } }] }, /does not match pattern/],
    [{ tools: [{ type: "function", function: {} }] }, /tools\[0\]\.function\.name/],
    [{ tool_choice: "auto" }, /only allowed when 'tools'/],
    [{ stream: false, stream_options: { include_usage: true } }, /only allowed when 'stream'/],
    [{ model: "" }, /must provide a model/],
  ])("malformed parameters %#", async (part, message) => {
    await start(text("taken"));
    const answer = await askOpenai(server, part);
    expect([answer.status, JSON.parse(answer.text).error.message]).toEqual([
      400,
      expect.stringMatching(message),
    ]);
  });

  it("take well paired conversations and read them as the other dialect's", async () => {
    await start(text("taken"));
    const messages = [{ role: "system", content: "Be." }, user, calls("a", "b"), tool("a"), tool("b")];
    const fn = { type: "function", function: { name: "ls", parameters: { type: "object" } } };
    expect((await askOpenai(server, { messages, tools: [fn] })).status).toBe(200);
    expect(server.requests[0]).toMatchObject({
      dialect: "openai",
      system: "Be.",
      tools: ["ls"],
      lastUserText: "hi",
      assistantTurns: 1,
      lastToolResults: [
        { id: "a", content: "x" },
        { id: "b", content: "x" },
      ],
    });
    expect(server.requests[0]!.messages.map((message) => message.role)).toEqual([
      "user",
      "assistant",
      "user",
    ]);
  });

  it("include prompts over the window, with the vendor's code", async () => {
    await start(text("taken"), { contextWindowTokens: 10 });
    const body = JSON.parse((await askOpenai(server)).text);
    expect(body.error.code).toBe("context_length_exceeded");
  });
});
