import { describe, expect, it } from "vitest";
import { contractRequest, driverContract } from "../../src/llm/contract.ts";
import type { AttemptRequest } from "../../src/llm/driver.ts";
import { fold } from "../../src/llm/fold.ts";
import type { HttpDriver } from "../../src/llm/http/http-driver.ts";
import { ollamaDriver } from "../../src/llm/ollama/ollama.ts";
import { blocks, error, text, thinking, toolUse } from "../model-server/reply.ts";
import type { ModelServer } from "../model-server/server.ts";
import { API_ERRORS, serve, serverRig } from "./rig.ts";

const ollama = (server: ModelServer, OLLAMA_MODEL = "test-model"): HttpDriver =>
  ollamaDriver({ OLLAMA_HOST: `127.0.0.1:${server.port}`, OLLAMA_MODEL });

driverContract(
  serverRig({
    name: "ollama",
    connect: (server) => ollama(server),
    stops: ["end_turn", "max_tokens"],
    errors: API_ERRORS,
    can: { thinking: true, retryAfter: true, interleave: true, wholeCalls: true, countsCached: false },
  }),
);

describe("ollamaDriver()", () => {
  const none = new AbortController().signal;
  const ask = (driver: HttpDriver, part: Partial<AttemptRequest> = {}) =>
    fold(driver.stream(contractRequest(part), none));
  const failureOf = (driver: HttpDriver, part: Partial<AttemptRequest> = {}) =>
    ask(driver, part).catch((failure: unknown) => failure);
  const long = contractRequest({
    messages: [{ role: "user", content: [{ type: "text", text: "word ".repeat(8_000) }] }],
  });

  it("stream() always sends the size of the context, which the model and the settings limit", async () => {
    const server = await serve({ script: text("Hi."), contextWindowTokens: 20_000 });
    const driver = ollama(server);
    await ask(driver);
    await ask(driver, { own: { maxInputTokens: 9_000 }, maxOutputTokens: 100_000 });
    const wide = await serve({ script: text("Hi.") });
    await ask(ollama(wide));
    const sent = [...server.requests, ...wide.requests].map(({ body }) => body.options);
    expect(sent).toMatchObject([
      { num_ctx: 20_000, num_predict: 1000 },
      { num_ctx: 9_000, num_predict: 8_000 },
      { num_ctx: 32_768, num_predict: 1000 },
    ]);
    expect(server.requests[0]!.headers["user-agent"]).toMatch(/^crux\/\d/);
  });

  it("stream() asks about a model once", async () => {
    const server = await serve({ script: text("Hi.") });
    const driver = ollama(server);
    await ask(driver);
    await ask(driver);
    expect(server.sideRequests.map(({ path }) => path)).toEqual(["/api/show"]);
  });

  it("stream() keeps the output within what the prompt leaves", async () => {
    const server = await serve({ script: text("Hi."), contextWindowTokens: 10_500 });
    await ask(ollama(server), { ...long, maxOutputTokens: 5_000 });
    const { num_predict: most } = server.requests[0]!.body.options as { num_predict: number };
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThan(500);
  });

  it("stream() refuses a prompt over the context before the server would cut it", async () => {
    const server = await serve({ script: text("Hi."), contextWindowTokens: 8_000 });
    expect(await failureOf(ollama(server), long)).toMatchObject({
      kind: "prompt_too_long",
      message: expect.stringMatching(/too long: about \d+ tokens > 8000 of its context/),
      hint: expect.stringContaining("ollama.numCtx"),
    });
    expect(server.requestCount).toBe(0);
  });

  it("stream() tells of a prompt of which the server read less than half", async () => {
    const server = await serve({
      script: [text("Hi.").usage({ input: 4_096 }), text("Hi.").usage({ input: 9_000 })],
    });
    const said: string[] = [];
    const warn = (message: string): void => void said.push(message);
    for (let n = 0; n < 2; n++) await ask(ollama(server), { ...long, warn });
    expect(said).toEqual([expect.stringMatching(/^Ollama read 4096 tokens of a prompt of about \d+/)]);
  });

  it("stream() says how to log in to the server's cloud", async () => {
    const server = await serve({ script: error(401) });
    expect(await failureOf(ollama(server))).toMatchObject({
      kind: "auth",
      hint: expect.stringContaining("ollama signin"),
    });
  });

  it("stream() refuses an agent with tools for a model without, at once", async () => {
    const server = await serve({ script: text("Hi."), capabilities: ["completion"] });
    expect(await failureOf(ollama(server))).toMatchObject({
      code: "INVALID",
      message: expect.stringContaining("test-model cannot call tools"),
    });
    expect((await ask(ollama(server), { tools: [] })).blocks).toEqual([{ type: "text", text: "Hi." }]);
    expect(server.requests[0]!.body.think).toBeUndefined();
  });

  it.each([
    ["qwen3", {}, false],
    ["qwen3", { thinking: { mode: "adaptive" as const }, effort: "high" as const }, true],
    ["gpt-oss:20b", {}, "low"],
    ["gpt-oss:20b", { thinking: { mode: "adaptive" as const } }, "medium"],
    ["gpt-oss:20b", { thinking: { mode: "adaptive" as const }, effort: "max" as const }, "high"],
  ])("stream() asks %s to think, given %j: %j", async (model, part, think) => {
    const server = await serve({ script: text("Hi.") });
    await ask(ollama(server, model), part);
    expect(server.requests[0]!.body.think).toBe(think);
  });

  it("stream() sends calls, their thinking and their results back in the server's form", async () => {
    const server = await serve({
      script: [
        blocks(thinking("Hm."), toolUse({ name: "view", input: { path: "a" }, id: "c1" })),
        text("Done."),
      ],
    });
    const driver = ollama(server);
    const { blocks: content } = await ask(driver);
    await ask(driver, {
      messages: [
        ...contractRequest().messages,
        { role: "assistant", content },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "c1", content: "no such file", is_error: true },
            { type: "text", text: "Go on." },
          ],
        },
      ],
    });
    expect(server.requests[1]!.body.messages).toEqual([
      { role: "system", content: "You are a test." },
      { role: "user", content: "Go on." },
      {
        role: "assistant",
        content: "",
        thinking: "Hm.",
        tool_calls: [{ id: "c1", function: { name: "view", arguments: { path: "a" } } }],
      },
      { role: "tool", tool_name: "view", tool_call_id: "c1", content: "Error: no such file" },
      { role: "user", content: "Go on." },
    ]);
  });

  it("stream() maps an error within the stream", async () => {
    const server = await serve({ script: text("Some text.").fail(error(500), { afterEvents: 1 }) });
    expect(await failureOf(ollama(server))).toMatchObject({ kind: "server" });
  });

  it("stream() does not ask again for a model that the memory is too small for", async () => {
    const message = "model requires more system memory (5.6 GiB) than is available (3.1 GiB)";
    const server = await serve({ script: error(500, undefined, message) });
    expect(await failureOf(ollama(server))).toMatchObject({ kind: "invalid", code: "INVALID" });
  });

  it("stream() asks which model there is, when nobody names one, and says how to get one", async () => {
    const server = await serve({ script: text("Hi."), models: ["llama-test"] });
    await ask(ollama(server, ""));
    expect(server.requests[0]!.model).toBe("llama-test");
    const empty = await serve({ script: text("Hi."), models: [] });
    expect(await failureOf(ollama(empty, ""))).toMatchObject({
      kind: "model_not_found",
      hint: expect.stringContaining("ollama pull"),
    });
    expect(await failureOf(ollama(server, "other"))).toMatchObject({ kind: "model_not_found" });
  });

  it("stream() says where nobody answers, and what to do", async () => {
    const server = await serve({ script: text("") });
    const driver = ollama(server);
    await server.close();
    expect(await failureOf(driver)).toMatchObject({
      kind: "connection",
      hint: expect.stringContaining("ollama serve"),
    });
  });
});
