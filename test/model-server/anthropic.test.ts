import { afterEach, describe, expect, it } from "vitest";
import { askAnthropic, readEvents, readSse, send } from "./raw-client.ts";
import {
  blocks,
  customBlock,
  error,
  malformedToolJson,
  overloaded,
  rateLimit,
  redactedThinking,
  text,
  thinking,
  toolUse,
} from "./reply.ts";
import { type ModelServer, type ModelServerOptions, startModelServer } from "./server.ts";

let server: ModelServer;
const start = async (script: ModelServerOptions["script"], options: Partial<ModelServerOptions> = {}) => {
  server = await startModelServer({ script, ...options });
  return server;
};
afterEach(() => server.close());

const user = (content: unknown) => ({ role: "user", content });
const assistant = (content: unknown) => ({ role: "assistant", content });
const call = (id: string) => ({ type: "tool_use", id, name: "ls", input: {} });
const result = (id: string, content: unknown = "x") => ({ type: "tool_result", tool_use_id: id, content });

describe("streamed messages", () => {
  it("come in the vendor's event order, one text and one call in 11 events", async () => {
    await start([text("Looking.").and(toolUse({ name: "ls", input: { a: 1 } }))]);
    const answer = await askAnthropic(server);
    const events = readSse(answer.text);
    expect(events.map((event) => event.event)).toEqual([
      ...["message_start", "content_block_start", "ping", "content_block_delta", "content_block_stop"],
      ...["content_block_start", "content_block_delta", "content_block_delta", "content_block_stop"],
      ...["message_delta", "message_stop"],
    ]);
    for (const { event, data } of events) expect(JSON.parse(data).type).toBe(event);
    expect(answer.headers["content-type"]).toMatch(/^text\/event-stream/);
    expect(answer.headers["request-id"]).toMatch(/^req_/);
    expect(answer.headers["anthropic-ratelimit-requests-remaining"]).toBeDefined();
  });

  it("carry usage and the stop reason at start and end", async () => {
    await start([
      text("a").usage({ input: 11, output: 22, cacheRead: 33, cacheWrite: 44 }).stop("max_tokens"),
    ]);
    const events = readEvents((await askAnthropic(server)).text);
    expect(events[0]).toMatchObject({
      message: {
        content: [],
        stop_reason: null,
        model: "claude-test",
        usage: {
          input_tokens: 11,
          cache_read_input_tokens: 33,
          cache_creation_input_tokens: 44,
          output_tokens: 1,
        },
      },
    });
    expect(events.at(-2)).toMatchObject({
      delta: { stop_reason: "max_tokens" },
      usage: { output_tokens: 22 },
    });
  });

  it("split a call's input into fragments after a first empty one", async () => {
    await start([
      toolUse({ name: "write", input: { path: "a.txt", content: "ä€😀".repeat(20) } }).fragment(7),
    ]);
    const deltas = readEvents((await askAnthropic(server)).text)
      .map((event) => event.delta as { type?: string; partial_json: string } | undefined)
      .filter((delta) => delta?.type === "input_json_delta");
    expect(deltas.length).toBeGreaterThan(5);
    expect(deltas[0]!.partial_json).toBe("");
    const joined = deltas.map((delta) => delta!.partial_json).join("");
    expect(JSON.parse(joined)).toEqual({ path: "a.txt", content: "ä€😀".repeat(20) });
  });

  it("carry thinking, its signature, redacted and custom blocks in the order given", async () => {
    const custom = customBlock({ type: "connector_text", connector_text: "" }, [{ type: "x_delta" }]);
    await start([blocks(thinking("hmm"), redactedThinking("blob"), "one", custom, "two")]);
    const events = readEvents((await askAnthropic(server)).text);
    const starts = events.filter((event) => event.type === "content_block_start");
    expect(starts.map((event) => (event.content_block as { type: string }).type)).toEqual([
      ...["thinking", "redacted_thinking", "text", "connector_text", "text"],
    ]);
    const first = events.filter((event) => event.index === 0 && event.type === "content_block_delta");
    expect(first).toMatchObject([
      { delta: { type: "thinking_delta", thinking: "hmm" } },
      { delta: { type: "signature_delta", signature: expect.stringMatching(/.{20}/) } },
    ]);
  });

  it("hold what noise() adds without changing the message", async () => {
    await start([text("quiet").noise().repeatStart()]);
    const answer = await askAnthropic(server);
    expect(answer.text).toContain(": keep-alive\n\n");
    expect(answer.text).toContain("event: future_event\n");
    const events = readEvents(answer.text);
    expect(events.find((event) => event.type === "content_block_start")).toMatchObject({
      content_block: { text: "quiet" },
      x_future_field: {},
    });
  });

  it("stream malformed arguments as they stand", async () => {
    await start([malformedToolJson("write", '{"path": "a'), malformedToolJson("write", '{"path": "a')]);
    expect((await askAnthropic(server)).text).toContain('"partial_json":"{\\"path\\": \\"a"');
    const complete = JSON.parse((await askAnthropic(server, { stream: false })).text);
    expect(complete.content[0].input).toBe('{"path": "a');
  });
});

describe("complete messages", () => {
  it("hold all blocks, the stop reason and usage", async () => {
    await start([thinking("t", "sig").and("Hi", toolUse({ name: "ls", input: { a: 1 }, id: "toolu_x" }))]);
    const answer = await askAnthropic(server, { stream: false });
    expect(answer.headers["content-type"]).toBe("application/json");
    expect(JSON.parse(answer.text)).toMatchObject({
      type: "message",
      role: "assistant",
      stop_reason: "tool_use",
      content: [
        { type: "thinking", thinking: "t", signature: "sig" },
        { type: "text", text: "Hi" },
        { type: "tool_use", id: "toolu_x", name: "ls", input: { a: 1 } },
      ],
      usage: { output_tokens: expect.any(Number) },
    });
  });
});

describe("errors", () => {
  it.each([
    [overloaded(), 529, "overloaded_error"],
    [rateLimit({ retryAfter: 7 }), 429, "rate_limit_error"],
    [error(500), 500, "api_error"],
    [error(402), 402, "billing_error"],
    [error(413), 413, "request_too_large"],
    [error(400, "invalid_request_error", "no", { "x-should-retry": "false" }), 400, "invalid_request_error"],
  ])("have the vendor's body and status %#", async (reply, status, type) => {
    await start([reply]);
    const answer = await askAnthropic(server);
    const body = JSON.parse(answer.text);
    expect(answer.status).toBe(status);
    expect(body).toMatchObject({ type: "error", error: { type, message: expect.any(String) } });
    expect(body.request_id).toBe(answer.headers["request-id"]);
    expect(answer.headers["retry-after"]).toBe(status === 429 ? "7" : undefined);
    expect(answer.headers["x-should-retry"]).toBe(status === 400 ? "false" : undefined);
  });

  it("come as an event in mid stream, after which the body ends", async () => {
    await start([text("one two three").fragment(1).fail(overloaded(), { afterEvents: 5 })]);
    const answer = await askAnthropic(server);
    const events = readSse(answer.text);
    expect(answer.status).toBe(200);
    expect(answer.isComplete).toBe(true);
    expect(events).toHaveLength(6);
    expect(events.at(-1)!.event).toBe("error");
    expect(JSON.parse(events.at(-1)!.data).error).toEqual({
      type: "overloaded_error",
      message: "Overloaded",
    });
  });
});

describe("requests the vendor refuses", () => {
  const tool = { name: "ls", input_schema: { type: "object" } };
  const cases: [string, object, RegExp][] = [
    ["no max_tokens", { max_tokens: undefined }, /max_tokens: Field required/],
    ["no model", { model: undefined }, /model: Field required/],
    ["no messages", { messages: [] }, /at least one message/],
    ["assistant first", { messages: [assistant("a"), user("b")] }, /first message must use the "user" role/],
    ["two users in a row", { messages: [user("a"), user("b")] }, /roles must alternate/],
    ["an empty text block", { messages: [user([{ type: "text", text: "" }])] }, /must be non-empty/],
    ["a blank text block", { messages: [user([{ type: "text", text: " \n" }])] }, /non-whitespace/],
    ["empty content", { messages: [user([])] }, /non-empty content/],
    ["an empty system block", { system: [{ type: "text", text: "" }] }, /system: text content blocks/],
    ["a prefill", { messages: [user("a"), assistant("b")] }, /prefill/],
    [
      "a call without result",
      { messages: [user("a"), assistant([call("t1"), call("t2")]), user([result("t1")])] },
      /messages\.1: `tool_use` ids were found without `tool_result` blocks immediately after: t2\./,
    ],
    [
      "text before the result",
      { messages: [user("a"), assistant([call("t1")]), user([{ type: "text", text: "x" }, result("t1")])] },
      /without `tool_result` blocks immediately after: t1/,
    ],
    ["a call at the end", { messages: [user("a"), assistant([call("t1")])] }, /immediately after: t1/],
    [
      "a result without call",
      { messages: [user("a"), assistant("b"), user([result("t9")])] },
      /messages\.2\.content\.0: unexpected `tool_use_id` found in `tool_result` blocks: t9/,
    ],
    [
      "two results for a call",
      { messages: [user("a"), assistant([call("t1")]), user([result("t1"), result("t1")])] },
      /single result/,
    ],
    [
      "a call id used twice",
      {
        messages: [
          ...[user("a"), assistant([call("t1")]), user([result("t1")])],
          ...[assistant([call("t1")]), user([result("t1")])],
        ],
      },
      /ids must be unique/,
    ],
    [
      "input that is no object",
      { messages: [user("a"), assistant([{ ...call("t1"), input: "x" }]), user([result("t1")])] },
      /tool_use\.input: Input should be a valid dictionary/,
    ],
    [
      "an image in an error result",
      {
        messages: [
          ...[user("a"), assistant([call("t1")])],
          user([{ ...result("t1", [{ type: "image", source: { type: "url", url: "x" } }]), is_error: true }]),
        ],
      },
      /must be type `text` if `is_error`/,
    ],
    ["a tool without schema", { tools: [{ name: "ls" }] }, /tools\.0\.custom\.input_schema: Field required/],
    ["a schema that is no object", { tools: [{ ...tool, input_schema: { type: "string" } }] }, /'object'/],
    [
      "a bad tool name",
      { tools: [{ ...tool, name: "mcp.ls" }] },
      /tools\.0\.custom\.name: String should match/,
    ],
    ["two tools of one name", { tools: [tool, tool] }, /names must be unique/],
    ["a choice without tools", { tool_choice: { type: "auto" } }, /only be specified while providing tools/],
    ["an unknown choice", { tools: [tool], tool_choice: { type: "tool", name: "x" } }, /'x' not found/],
    [
      "a budget over max_tokens",
      { max_tokens: 2000, thinking: { type: "enabled", budget_tokens: 2000 } },
      /must be greater than `thinking\.budget_tokens`/,
    ],
    [
      "temperature with thinking",
      { thinking: { type: "adaptive" }, temperature: 0.5 },
      /may only be set to 1/,
    ],
    [
      "five cache markers",
      { messages: [user(Array(5).fill({ type: "text", text: "x", cache_control: { type: "ephemeral" } }))] },
      /maximum of 4 blocks with cache_control may be provided\. Found 5/,
    ],
  ];

  it.each(cases)("%s", async (_name, part, message) => {
    await start(text("taken"));
    const answer = await askAnthropic(server, part);
    expect(JSON.parse(answer.text).error).toMatchObject({ type: "invalid_request_error" });
    expect(JSON.parse(answer.text).error.message).toMatch(message);
    expect(answer.status).toBe(400);
    expect(server.requests).toHaveLength(0);
    expect(server.rejected).toHaveLength(1);
  });

  it("include those without a version header, and bodies that are not JSON", async () => {
    await start(text("taken"));
    const url = `${server.url}/v1/messages`;
    expect(JSON.parse((await send(url, {}).answer).text).error.message).toMatch(/anthropic-version/);
    expect((await send(url, "{").answer).status).toBe(400);
  });

  it("include prompts over the window, bodies over the limit and unknown models, when those are set", async () => {
    await start(text("taken"), { contextWindowTokens: 100, maxBodyBytes: 2000, models: ["claude-test"] });
    const long = await askAnthropic(server, { messages: [user("x".repeat(1000))] });
    expect(JSON.parse(long.text).error.message).toMatch(/^prompt is too long: \d+ tokens > 100 maximum$/);
    const large = await askAnthropic(server, { messages: [user("x".repeat(3000))] });
    expect([large.status, JSON.parse(large.text).error.type]).toEqual([413, "request_too_large"]);
    const other = await askAnthropic(server, { model: "nobody" });
    expect(JSON.parse(other.text).error).toEqual({ type: "not_found_error", message: "model: nobody" });
  });

  it("include thinking whose text or model changed, when signatures are verified", async () => {
    await start(thinking("deep").and("answer"), { verifySignatures: true });
    const first = JSON.parse((await askAnthropic(server, { stream: false })).text);
    const again = (content: unknown, model = "claude-test") =>
      askAnthropic(server, { model, messages: [user("a"), assistant(content), user("b")] });
    expect((await again(first.content)).status).toBe(200);
    expect((await again(first.content, "claude-other")).status).toBe(400);
    expect((await again([{ ...first.content[0], thinking: "shallow" }])).status).toBe(400);
  });
});

describe("requests as Claude Code sends them", () => {
  it("are taken: betas, metadata, cached system blocks, wide tools, thinking and context settings", async () => {
    await start(text("taken"));
    const cached = { cache_control: { type: "ephemeral", ttl: "1h" } };
    const answer = await send(
      `${server.url}/v1/messages?beta=true`,
      {
        model: "claude-test",
        max_tokens: 32_000,
        stream: true,
        metadata: { user_id: "u" },
        system: [{ type: "text", text: "You are.", ...cached }],
        tools: [
          {
            name: "Bash",
            description: "d",
            input_schema: {
              $schema: "s",
              type: "object",
              properties: { command: {} },
              additionalProperties: false,
            },
            ...{ defer_loading: true, eager_input_streaming: true, strict: true },
          },
          { type: "web_search_20250305", name: "web_search", max_uses: 8 },
        ],
        thinking: { type: "adaptive" },
        context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
        output_config: { effort: "high" },
        messages: [
          user([{ type: "text", text: "hi", ...cached }]),
          { role: "system", content: "a note" },
          assistant([{ type: "thinking", thinking: "", signature: "s" }, call("t1")]),
          user([result("t1", [{ type: "tool_reference", tool_name: "x" }]), { type: "text", text: "go" }]),
        ],
      },
      { "anthropic-version": "2023-06-01", "anthropic-beta": "a-1,b-2", "x-app": "cli" },
    ).answer;
    expect(answer.status).toBe(200);
    expect(server.requests[0]).toMatchObject({
      query: "beta=true",
      tools: ["Bash", "web_search"],
      system: "You are.",
      lastUserText: "go",
      lastToolResults: [{ id: "t1" }],
      assistantTurns: 1,
    });
  });

  it("may repeat a role when alternation is set to merge, with pairing still checked", async () => {
    await start(text("taken"), { alternation: "merge" });
    const ok = await askAnthropic(server, {
      messages: [user("a"), assistant([call("t1")]), user([result("t1")]), user("b")],
    });
    expect(ok.status).toBe(200);
    const bad = await askAnthropic(server, {
      messages: [user("a"), assistant([call("t1")]), user("b"), user("c")],
    });
    expect(bad.status).toBe(400);
  });
});
