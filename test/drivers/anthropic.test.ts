import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { EFFORTS } from "../../src/abi/llm.ts";
import { AnthropicDriver } from "../../src/llm/anthropic/anthropic.ts";
import { contractRequest, driverContract } from "../../src/llm/contract.ts";
import { fold } from "../../src/llm/fold.ts";
import { blocks, customBlock, error, text, thinking, toolUse } from "../model-server/reply.ts";
import type { ModelServer } from "../model-server/server.ts";
import { API_ERRORS, connectionsTo, serve, serverRig, TEXT_STOPS } from "./rig.ts";

const KEY = "test-key-0123456789";
const anthropic = (server: ModelServer): AnthropicDriver =>
  new AnthropicDriver({ ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: server.url });

driverContract(
  serverRig({
    name: "anthropic",
    connect: anthropic,
    stops: TEXT_STOPS,
    errors: [...API_ERRORS, { kind: "timeout", status: 408 }],
    can: { thinking: true, retryAfter: true, interleave: true },
  }),
);

describe("AnthropicDriver", () => {
  const none = new AbortController().signal;

  it("stream() makes one connection for attempts that follow one another", async () => {
    const server = await serve({ script: text("Hi.") });
    const made = connectionsTo(server);
    const driver = anthropic(server);
    for (let n = 0; n < 3; n++) {
      await fold(driver.stream(contractRequest(), none));
      await setImmediate();
    }
    expect(made.count).toBe(1);
  });

  it("stream() sends the key as x-api-key and Crux's own User-Agent, and nothing of the SDK", async () => {
    const server = await serve({ script: text("Hi."), apiKey: KEY });
    await fold(anthropic(server).stream(contractRequest(), none));
    const { headers } = server.requests[0]!;
    expect(headers["x-api-key"]).toBe(KEY);
    expect(headers.authorization).toBeUndefined();
    expect(headers["user-agent"]).toMatch(/^crux\/\d/);
    expect(Object.keys(headers).filter((name) => name.startsWith("x-stainless"))).toEqual([]);
  });

  it("stream() sends a token as Bearer", async () => {
    const server = await serve({ script: text("Hi."), apiKey: "a-token" });
    const driver = new AnthropicDriver({ ANTHROPIC_AUTH_TOKEN: "a-token", ANTHROPIC_BASE_URL: server.url });
    await fold(driver.stream(contractRequest(), none));
    expect(server.requests[0]!.headers.authorization).toBe("Bearer a-token");
    expect(server.requests[0]!.headers["x-api-key"]).toBeUndefined();
  });

  it("stream() names the variable of a key that is refused, and never the key", async () => {
    const server = await serve({ script: error(401, undefined, `bad key ${KEY}`) });
    const failure = await fold(anthropic(server).stream(contractRequest(), none)).catch((e: unknown) => e);
    expect(failure).toMatchObject({ kind: "auth", message: expect.stringContaining("ANTHROPIC_API_KEY") });
    expect((failure as Error).message).not.toContain(KEY);
  });

  it("stream() without a key is UNAVAILABLE with what to set, and is not retried", async () => {
    const failure = await fold(new AnthropicDriver({}).stream(contractRequest(), none)).catch(
      (e: unknown) => e,
    );
    expect(failure).toMatchObject({ code: "UNAVAILABLE", shouldRetry: false });
    expect((failure as { hint: string }).hint).toContain("ANTHROPIC_API_KEY");
  });

  it("stream() says where nobody answers", async () => {
    const server = await serve({ script: text("") });
    const { url } = server;
    await server.close();
    const driver = new AnthropicDriver({ ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: url });
    await expect(fold(driver.stream(contractRequest(), none))).rejects.toMatchObject({
      kind: "connection",
      message: `nothing answers at ${url} (connection refused)`,
    });
  });

  it.each([
    "claude-opus-5-5",
    "claude-sonnet-5-5",
    "claude-haiku-5-5",
    "claude-opus-4-5",
    "claude-haiku-4-5",
  ])("stream() asks %s for thinking and effort in a way that it takes, and for none", async (model) => {
    const server = await serve({ script: text("Hi.").usage({ output: 9, reasoning: 4 }) });
    const driver = anthropic(server);
    for (const effort of [undefined, ...EFFORTS])
      for (const thinking of [undefined, { mode: "adaptive" } as const]) {
        const part = { model, temperature: 0, maxOutputTokens: 8_000 };
        const wishes = { ...(effort && { effort }), ...(thinking && { thinking }) };
        const { usage } = await fold(driver.stream(contractRequest({ ...part, ...wishes }), none));
        expect(usage).toMatchObject({ output_tokens: 9, reasoning_tokens: 4 });
      }
    expect(server.rejected).toEqual([]);
  });

  it("stream() sends thinking back between calls, byte for byte, and a budget stays below the limit", async () => {
    const server = await serve({
      script: [
        blocks(thinking("Let me see."), toolUse({ name: "view", input: { path: "a" } })),
        blocks(thinking("And now?"), toolUse({ name: "view", input: { path: "b" } })),
        text("Done."),
      ],
      verifySignatures: true,
    });
    const driver = anthropic(server);
    const wish = {
      model: "claude-haiku-4-5",
      thinking: { mode: "adaptive" },
      maxOutputTokens: 2_000,
    } as const;
    const messages = [...contractRequest().messages];
    for (;;) {
      const { blocks: said } = await fold(
        driver.stream(contractRequest({ ...wish, messages: [...messages] }), none),
      );
      const ids = said.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
      messages.push({ role: "assistant", content: said });
      if (ids.length === 0) break;
      const results = ids.map((tool_use_id) => ({ type: "tool_result", tool_use_id, content: "x" }) as const);
      messages.push({ role: "user", content: results });
    }
    expect(server.rejected).toEqual([]);
    const sent = server.requests.map(({ body, headers }) => [body.thinking, headers["anthropic-beta"]]);
    const budget = { type: "enabled", budget_tokens: 1_500 };
    expect(sent).toEqual([1, 2, 3].map(() => [budget, "interleaved-thinking-2025-05-14"]));
    const plain = new AnthropicDriver({
      ANTHROPIC_API_KEY: KEY,
      ANTHROPIC_BASE_URL: server.url,
      CRUX_DISABLE_EXPERIMENTAL_BETAS: "1",
    });
    server.use(text("Hi."));
    await fold(plain.stream(contractRequest(wish), none));
    expect(server.requests.at(-1)?.headers["anthropic-beta"]).toBeUndefined();
  });

  it("stream() has all but the new end of a conversation read from the cache, also after 30 calls at once", async () => {
    const server = await serve({ script: text("Hi."), promptCache: { minTokens: 16 } });
    const driver = anthropic(server);
    const messages = [...contractRequest().messages];
    const ask = async () =>
      (await fold(driver.stream(contractRequest({ messages: [...messages] }), none))).usage;
    const first = await ask();
    expect(first).toMatchObject({ cache_read_input_tokens: 0, input_tokens: 0 });
    const ids = Array.from({ length: 30 }, (_, n) => `t${n}`);
    messages.push({
      role: "assistant",
      content: ids.map((id) => ({ type: "tool_use", id, name: "view", input: {} })),
    });
    messages.push({
      role: "user",
      content: ids.map((tool_use_id) => ({ type: "tool_result", tool_use_id, content: "x" })),
    });
    const second = await ask();
    expect(second.cache_read_input_tokens).toBe(first.cache_creation_input_tokens);
    expect(second.input_tokens).toBe(0);
  });

  it("stream() writes what is kept for an hour as such, and nothing where caching is off", async () => {
    const server = await serve({ script: text("Hi."), promptCache: { minTokens: 16 } });
    const ask = async (cacheTtl: "1h" | "off") =>
      (await fold(anthropic(server).stream(contractRequest({ cacheTtl }), none))).usage;
    const { cache_creation_input_tokens: written, cache_creation_1h_tokens: forAnHour } = await ask("1h");
    expect(written).toBeGreaterThan(0);
    expect(forAnHour).toBe(written);
    expect(await ask("off")).toMatchObject({ cache_creation_input_tokens: 0, cache_read_input_tokens: 0 });
  });

  it("stream() sends thinking back with its signature", async () => {
    const server = await serve({
      script: [blocks(thinking("Let me see."), "First."), text("Second.")],
      verifySignatures: true,
    });
    const driver = anthropic(server);
    const first = await fold(driver.stream(contractRequest(), none));
    const messages = [
      ...contractRequest().messages,
      { role: "assistant" as const, content: first.blocks },
      { role: "user" as const, content: [{ type: "text" as const, text: "And?" }] },
    ];
    const second = await fold(driver.stream(contractRequest({ messages }), none));
    expect(second.blocks).toEqual([{ type: "text", text: "Second." }]);
  });

  it("stream() passes over what it does not know, and numbers the rest without gaps", async () => {
    const server = await serve({
      script: customBlock({ type: "future_block" }, [{ type: "future_delta" }])
        .and("Hi.")
        .noise(),
    });
    const starts: number[] = [];
    for await (const event of anthropic(server).stream(contractRequest(), none))
      if (event.type === "content_block_start") starts.push(event.index);
    expect(starts).toEqual([0]);
  });

  it("stream() counts text once that start and delta both carry", async () => {
    const server = await serve({ script: text("Said once.").repeatStart() });
    const reply = await fold(anthropic(server).stream(contractRequest(), none));
    expect(reply.blocks).toEqual([{ type: "text", text: "Said once." }]);
  });

  it("stream() maps an error within the stream", async () => {
    const server = await serve({ script: text("Some text.").fail(error(529), { afterEvents: 3 }) });
    await expect(fold(anthropic(server).stream(contractRequest(), none))).rejects.toMatchObject({
      kind: "overloaded",
    });
  });

  it("stream() refuses framing that is broken", async () => {
    const server = await serve({
      script: text("Text.").inject("data: {not json\n\n", { afterEvents: 2 }),
    });
    await expect(fold(anthropic(server).stream(contractRequest(), none))).rejects.toMatchObject({
      kind: "stream_malformed",
    });
  });

  it("check() asks the server", async () => {
    const server = await serve({ script: text(""), apiKey: KEY });
    const env = { ANTHROPIC_BASE_URL: server.url };
    await expect(new AnthropicDriver({ ...env, ANTHROPIC_API_KEY: KEY }).check(none)).resolves.toEqual({
      ok: true,
    });
    const refused = await new AnthropicDriver({ ...env, ANTHROPIC_API_KEY: "other" }).check(none);
    expect(refused).toMatchObject({ ok: false, error: { kind: "auth" } });
  });
});
