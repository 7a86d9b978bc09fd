import { describe, expect, it } from "vitest";
import type { Block } from "../../src/abi/llm.ts";
import { contractRequest, driverContract } from "../../src/llm/contract.ts";
import type { AttemptRequest } from "../../src/llm/driver.ts";
import { fold } from "../../src/llm/fold.ts";
import { geminiDriver } from "../../src/llm/gemini/gemini.ts";
import { BYPASS } from "../../src/llm/gemini/signature.ts";
import type { HttpDriver } from "../../src/llm/http/http-driver.ts";
import { blocks, error, malformedToolJson, text, thinking, toolUse } from "../model-server/reply.ts";
import type { ModelServer } from "../model-server/server.ts";
import { API_ERRORS, serve, serverRig } from "./rig.ts";

const KEY = "test-key-0123456789";
const MODEL = "gemini-4-hydrogen";
const gemini = (server: ModelServer, model = MODEL): HttpDriver =>
  geminiDriver({ GEMINI_API_KEY: KEY, GEMINI_BASE_URL: server.geminiBaseUrl, GEMINI_MODEL: model });

for (const model of [MODEL, "gemini-2.5-flash"])
  driverContract(
    serverRig({
      name: `gemini (${model})`,
      connect: (server) => gemini(server, model),
      stops: ["end_turn", "max_tokens", "refusal"],
      errors: API_ERRORS,
      can: { thinking: true, retryAfter: true, interleave: true, wholeCalls: true },
    }),
  );

describe("geminiDriver()", () => {
  const none = new AbortController().signal;
  const ask = (driver: HttpDriver, part: Partial<AttemptRequest> = {}) =>
    fold(driver.stream(contractRequest(part), none));
  const talkOf = (...replies: readonly Block[][]): AttemptRequest["messages"] => [
    ...contractRequest().messages,
    ...replies.flatMap((content) => [
      { role: "assistant" as const, content },
      {
        role: "user" as const,
        content: content.flatMap((block) =>
          block.type === "tool_use"
            ? [{ type: "tool_result" as const, tool_use_id: block.id, content: "x" }]
            : [],
        ),
      },
    ]),
  ];
  const parallel = blocks(
    thinking("Let me see."),
    "First both.",
    toolUse([
      { name: "view", input: { path: "a" } },
      { name: "view", input: { path: "b" } },
    ]),
  );
  const single = toolUse({ name: "view", input: { path: "c" } });

  it("stream() names the model in the path, and itself as Crux", async () => {
    const server = await serve({ script: text("Hi."), apiKey: KEY });
    await ask(gemini(server), { process: "a-uuid" });
    const { headers, body, path, query } = server.requests[0]!;
    expect([path, query]).toEqual([`/v1beta/models/${MODEL}:streamGenerateContent`, "alt=sse"]);
    expect(headers["user-agent"]).toMatch(/^crux\/\d/);
    expect(Object.keys(headers).filter((name) => /goog/.test(name))).toEqual(["x-goog-api-key"]);
    expect(body).toEqual({
      systemInstruction: { parts: [{ text: "You are a test." }] },
      tools: [
        {
          functionDeclarations: [
            {
              name: "view",
              description: "Reads a file.",
              parameters: { type: "object", properties: { path: { type: "string" } } },
            },
          ],
        },
      ],
      contents: [{ role: "user", parts: [{ text: "Go on." }] }],
      generationConfig: { maxOutputTokens: 1000, thinkingConfig: { thinkingLevel: "LOW" } },
    });
  });

  it("stream() takes GOOGLE_API_KEY where the other is not set", async () => {
    const server = await serve({ script: text("Hi."), apiKey: KEY });
    await ask(geminiDriver({ GOOGLE_API_KEY: KEY, GEMINI_BASE_URL: server.geminiBaseUrl }));
    expect(server.requests[0]!.model).toBe(MODEL);
  });

  it("stream() sends each signature back on the part it came with, over steps of a turn", async () => {
    const server = await serve({ script: [parallel, single, text("Done.")], verifySignatures: true });
    const driver = gemini(server);
    const first = await ask(driver);
    const second = await ask(driver, { messages: talkOf(first.blocks) });
    const third = await ask(driver, { messages: talkOf(first.blocks, second.blocks) });
    expect(third.blocks.find(({ type }) => type === "text")).toEqual({ type: "text", text: "Done." });
    const sent = server.requests[2]!.body.contents as { parts: Record<string, unknown>[] }[];
    // the bypass for another model's history would be taken, too
    const isOwn = ({ thoughtSignature: own }: Record<string, unknown>) => own !== undefined && own !== BYPASS;
    const signed = sent.flatMap(({ parts }) => parts.map((part) => [Object.keys(part)[0], isOwn(part)]));
    expect(signed).toEqual([
      ["text", false],
      ["text", false],
      ["functionCall", true],
      ["functionCall", false],
      ["functionResponse", false],
      ["functionResponse", false],
      ["functionCall", true],
      ["functionResponse", false],
    ]);
  });

  it("stream() keeps the signature of a reply without calls on its last part", async () => {
    const server = await serve({ script: [text("One."), text("Two.")] });
    const driver = gemini(server);
    const { blocks: said } = await ask(driver);
    const messages: AttemptRequest["messages"] = [
      ...contractRequest().messages,
      { role: "assistant", content: said },
      { role: "user", content: [{ type: "text", text: "And?" }] },
    ];
    await ask(driver, { messages });
    const sent = server.requests[1]!.body.contents as { parts: unknown[] }[];
    expect(sent[1]!.parts).toEqual([{ text: "One." }, { text: "", thoughtSignature: expect.any(String) }]);
  });

  it("stream() gives another model's history the documented bypass, and no signature", async () => {
    const server = await serve({ script: [parallel, text("Done."), text("Done.")], verifySignatures: true });
    const driver = gemini(server);
    const { blocks: made } = await ask(driver);
    await ask(driver, { messages: talkOf(made), model: "gemini-4-carbon" });
    await ask(driver, { messages: talkOf(made), model: "gemini-2.5-pro" });
    const signatures = server.requests
      .slice(1)
      .map(({ rawBody }) => rawBody.match(/"thoughtSignature":"[^"]*"/g));
    expect(signatures).toEqual([['"thoughtSignature":"skip_thought_signature_validator"'], null]);
    expect(server.rejected).toEqual([]);
  });

  it("stream() gives calls without an id one, and sends none back", async () => {
    const server = await serve({ script: [parallel, text("Done.")] });
    const driver = gemini(server, "gemini-2.5-pro");
    const { blocks: made } = await ask(driver);
    const ids = made.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
    expect(new Set(ids).size).toBe(2);
    await ask(driver, { messages: talkOf(made) });
    expect(server.requests[1]!.rawBody).not.toContain('"id"');
  });

  it("stream() counts cached and thought tokens apart", async () => {
    const server = await serve({
      script: text("Hi.").usage({ input: 10, output: 9, cacheRead: 30, reasoning: 7 }),
    });
    expect((await ask(gemini(server))).usage).toEqual({
      input_tokens: 10,
      output_tokens: 9,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 30,
      reasoning_tokens: 7,
    });
  });

  it("stream() makes an empty reply of a malformed call, and a failure of one after words", async () => {
    const malformed = malformedToolJson("view", "{");
    const server = await serve({ script: [malformed, blocks("Let me look.", malformed)] });
    expect(await ask(gemini(server))).toMatchObject({ stopReason: "end_turn", blocks: [] });
    await expect(ask(gemini(server))).rejects.toMatchObject({
      kind: "stream_malformed",
      message: expect.stringContaining("MALFORMED_FUNCTION_CALL"),
    });
  });

  it("stream() names the models near one that the vendor does not have", async () => {
    const server = await serve({ script: error(404, undefined, "models/gemini-9 is not found") });
    await expect(ask(gemini(server), { model: "gemini-9" })).rejects.toMatchObject({
      kind: "model_not_found",
      hint: expect.stringContaining("(near: gemini-4-carbon, gemini-4-hydrogen, gemini-3.8-flash)"),
    });
  });

  it("stream() tells a blocked prompt, and an error within the stream", async () => {
    const blocked = { promptFeedback: { blockReason: "PROHIBITED_CONTENT" }, modelVersion: MODEL };
    const server = await serve({
      script: [
        text("").inject(`data: ${JSON.stringify(blocked)}\r\n\r\n`, { afterEvents: 0 }),
        text("Some text.").fail(error(529), { afterEvents: 1 }),
      ],
    });
    await expect(ask(gemini(server))).rejects.toMatchObject({
      kind: "refusal",
      message: expect.stringContaining("PROHIBITED_CONTENT"),
    });
    await expect(ask(gemini(server))).rejects.toMatchObject({ kind: "overloaded", status: 503 });
  });

  it.each([
    [MODEL, { effort: "max" as const }, { thinkingLevel: "HIGH" }],
    [MODEL, { thinking: { mode: "adaptive" as const } }, { includeThoughts: true }],
    ["gemini-2.5-flash", {}, { thinkingBudget: 0 }],
    ["gemini-2.5-pro", {}, undefined],
    [
      "gemini-2.5-pro",
      { thinking: { mode: "adaptive" as const } },
      { includeThoughts: true, thinkingBudget: -1 },
    ],
    ["gemini-2.0-flash", { thinking: { mode: "adaptive" as const } }, undefined],
  ])("stream() asks %s to think, given %j: %j", async (model, part, thinkingConfig) => {
    const server = await serve({ script: text("Hi.") });
    await ask(gemini(server), { model, ...part });
    expect((server.requests[0]!.body.generationConfig as { thinkingConfig?: object }).thinkingConfig).toEqual(
      thinkingConfig,
    );
  });

  it("stream() refuses a prompt that is too long for the model", async () => {
    const server = await serve({ script: text(""), contextWindowTokens: 10 });
    await expect(ask(gemini(server))).rejects.toMatchObject({ kind: "prompt_too_long" });
  });

  it("stream() without a key names its variable", async () => {
    await expect(ask(geminiDriver({}))).rejects.toMatchObject({
      code: "UNAVAILABLE",
      hint: expect.stringContaining("GEMINI_API_KEY"),
    });
  });

  it("check() reads the list of models", async () => {
    const server = await serve({ script: text(""), apiKey: KEY });
    expect(await gemini(server).check(none)).toEqual({ ok: true });
    expect(
      await geminiDriver({ GEMINI_API_KEY: "wrong", GEMINI_BASE_URL: server.geminiBaseUrl }).check(none),
    ).toMatchObject({
      ok: false,
      error: { kind: "auth" },
    });
  });
});
