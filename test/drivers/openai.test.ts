import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { contractRequest, driverContract } from "../../src/llm/contract.ts";
import { fold } from "../../src/llm/fold.ts";
import type { HttpDriver } from "../../src/llm/http/http-driver.ts";
import { openaiDriver } from "../../src/llm/responses/openai.ts";
import { error, text } from "../model-server/reply.ts";
import type { ModelServer } from "../model-server/server.ts";
import { API_ERRORS, connectionsTo, serve, serverRig } from "./rig.ts";

const KEY = "test-key-0123456789";
const openai = (server: ModelServer, model = "test-model"): HttpDriver =>
  openaiDriver({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: server.openaiBaseUrl, OPENAI_MODEL: model });
driverContract(
  serverRig({
    name: "openai",
    connect: (server) => openai(server),
    stops: ["end_turn", "max_tokens", "refusal"],
    errors: API_ERRORS,
    can: { thinking: true, retryAfter: true, interleave: true },
  }),
);

describe("HttpDriver", () => {
  const none = new AbortController().signal;

  it("stream() makes one connection for attempts that follow one another", async () => {
    const server = await serve({ script: text("Hi.") });
    const made = connectionsTo(server);
    const driver = openai(server);
    for (let n = 0; n < 3; n++) {
      await fold(driver.stream(contractRequest(), none));
      await setImmediate();
    }
    expect(made.count).toBe(1);
  });

  it("stream() sends Crux's own User-Agent, asks for usage, and sends nothing of the SDK", async () => {
    const server = await serve({ script: text("Hi."), apiKey: KEY });
    await fold(openai(server).stream(contractRequest(), none));
    const { headers, body } = server.requests[0]!;
    expect(headers["user-agent"]).toMatch(/^crux\/\d/);
    expect(Object.keys(headers).filter((name) => /stainless|openai/.test(name))).toEqual([]);
    expect(body).toMatchObject({
      stream_options: { include_usage: true },
      max_tokens: 1000,
      model: "test-model",
    });
  });

  it("stream() asks a server of one's own which model it has, when nobody names one", async () => {
    const server = await serve({ script: text("Hi."), models: ["llama-test"] });
    await fold(openai(server, "").stream(contractRequest(), none));
    expect(server.requests[0]!.model).toBe("llama-test");
  });

  it("stream() never shows the key", async () => {
    const server = await serve({ script: error(401, undefined, `Incorrect API key provided: ${KEY}`) });
    const failure = (await fold(openai(server).stream(contractRequest(), none)).catch(
      (e: unknown) => e,
    )) as Error;
    expect(failure.message).toContain("OPENAI_API_KEY");
    expect(failure.message).not.toContain(KEY);
  });

  it("stream() tells a spent quota from a rate limit", async () => {
    const server = await serve({
      script: error(
        429,
        "insufficient_quota",
        "You exceeded your current quota",
        {},
        { code: "insufficient_quota" },
      ),
    });
    await expect(fold(openai(server).stream(contractRequest(), none))).rejects.toMatchObject({
      kind: "quota",
    });
  });

  it("stream() maps an error within the stream", async () => {
    const server = await serve({ script: text("Some text.").fail(error(500), { afterEvents: 2 }) });
    await expect(fold(openai(server).stream(contractRequest(), none))).rejects.toMatchObject({
      kind: "server",
    });
  });
});
