import { describe, expect, it } from "vitest";
import { contractRequest, driverContract } from "../../src/llm/contract.ts";
import type { AttemptRequest } from "../../src/llm/driver.ts";
import { fold } from "../../src/llm/fold.ts";
import { vllmDriver } from "../../src/llm/vllm/vllm.ts";
import { text } from "../model-server/reply.ts";
import type { ModelServer } from "../model-server/server.ts";
import { API_ERRORS, serve, serverRig } from "./rig.ts";

const vllm = (server: ModelServer, more: Record<string, string> = {}) =>
  vllmDriver({ VLLM_BASE_URL: server.openaiBaseUrl, VLLM_MODEL: "test-model", ...more });

driverContract(
  serverRig({
    name: "vllm",
    connect: (server) => vllm(server),
    stops: ["end_turn", "max_tokens", "refusal"],
    errors: API_ERRORS,
    can: { thinking: true, retryAfter: true, interleave: true },
  }),
);

describe("vllmDriver()", () => {
  const window = 4_096;
  const ask = (server: ModelServer, part: Partial<AttemptRequest> = {}) =>
    fold(vllm(server).stream(contractRequest(part), new AbortController().signal));
  const options = {
    script: text("Hi."),
    models: ["test-model"],
    contextWindowTokens: window,
    countsOutput: true,
  };
  const said = (chars: number): Partial<AttemptRequest> => ({
    messages: [{ role: "user", content: [{ type: "text", text: "word ".repeat(chars / 5) }] }],
    maxOutputTokens: 16_000,
  });

  it("stream() asks for no more output than the prompt leaves", async () => {
    const server = await serve(options);
    await ask(server, said(8_000));
    const { max_tokens: most, model } = server.requests[0]!.body;
    expect(model).toBe("test-model");
    expect(most).toBeGreaterThan(1_000);
    expect(most).toBeLessThan(window - 2_000);
    expect(server.rejected).toEqual([]);
  });

  it("stream() leaves a prompt that is too long to the server, which names its counts", async () => {
    const server = await serve(options);
    await expect(ask(server, said(40_000))).rejects.toMatchObject({
      kind: "prompt_too_long",
      message: expect.stringContaining("maximum context length is 4096 tokens"),
    });
  });

  it("stream() sends a key only if there is one, and takes the model that is served", async () => {
    const server = await serve({ ...options, apiKey: "secret-key" });
    const driver = vllm(server, { VLLM_API_KEY: "secret-key", VLLM_MODEL: "" });
    await fold(driver.stream(contractRequest(), new AbortController().signal));
    expect(server.requests[0]!.model).toBe("test-model");
    await expect(ask(server)).rejects.toMatchObject({ kind: "auth" });
  });
});
