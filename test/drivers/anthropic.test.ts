import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { AnthropicDriver } from "../../src/llm/anthropic/anthropic.ts";
import { contractRequest, driverContract } from "../../src/llm/contract.ts";
import { fold } from "../../src/llm/fold.ts";
import { blocks, customBlock, error, text, thinking } from "../model-server/reply.ts";
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

  it("stream() marks the end of the system prompt and of the last message for the cache, and nothing else", async () => {
    const server = await serve({ script: text("Hi.") });
    const system = [
      { text: "one", zone: "static" },
      { text: "two", zone: "dynamic" },
    ] as const;
    await fold(anthropic(server).stream(contractRequest({ system: [...system] }), none));
    const { body } = server.requests[0]!;
    expect(JSON.stringify(body).match(/cache_control/g)).toHaveLength(2);
    expect(body.system).toMatchObject([
      { text: "one" },
      { text: "two", cache_control: { type: "ephemeral" } },
    ]);
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
