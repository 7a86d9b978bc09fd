import { describe, expect, it } from "vitest";
import { answerError, checkKey, connectionError, type Endpoint, retryAfter } from "./failure.ts";

const endpoint: Endpoint = {
  device: "/dev/llm/anthropic",
  vendor: "Anthropic",
  baseUrl: "https://user:word@host.example/v1?x=1",
  keyName: "ANTHROPIC_API_KEY",
  secret: "s3cret-value",
  unreachableHint: "Check the network.",
};
const answer = (status: number | undefined, message = "", type = "", code = "") => ({
  status,
  message,
  type,
  code,
});

describe("answerError()", () => {
  it.each([
    ["Limit 30000, Used 29000, Requested 2000. Please try again in 1.2s. Visit https://h.example", 1_200],
    ["Please try again in 450ms.", 450],
    ["Please try again in 6m0s.", 360_000],
    ["Please retry in 1h2m3.5s", 3_723_500],
    ["Please retry after 7 seconds", 7_000],
    ["Please try again later.", undefined],
  ])("reads when to try again from %j", (message, retryAfterMs) => {
    expect(answerError(endpoint, answer(429, message)).retryAfterMs).toBe(retryAfterMs);
    expect(answerError(endpoint, { ...answer(429, message), retryAfterMs: 5 }).retryAfterMs).toBe(5);
  });

  it("names the models that are near one that is not there", () => {
    const near = ["claude-sonnet-5-5", "claude-opus-5-5"];
    expect(answerError(endpoint, { ...answer(404, "model: claude-sonet-5-5"), near }).hint).toBe(
      "Name another model with --model (near: claude-sonnet-5-5, claude-opus-5-5), or check the base URL.",
    );
  });

  it("says how to log in where no variable holds a key", () => {
    const loginHint = "Run `login`.";
    expect(answerError({ ...endpoint, loginHint }, answer(401, "who?"))).toMatchObject({
      message: "Anthropic refused the credentials (401: who?)",
      hint: loginHint,
    });
  });

  it.each([
    [400, "Conversation roles must alternate user/assistant/user/assistant/...", "chat template"],
    [
      400,
      "After the optional system message, conversation roles must alternate user/assistant",
      "chat template",
    ],
    [400, "Only user and assistant roles are supported!", "chat template"],
    [
      400,
      '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
      "no tools",
    ],
    [400, "registry.ollama.ai/library/x does not support tools", "no tools"],
    [400, "image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes", "taken out of the conversation"],
    [400, "Image too large", "taken out of the conversation"],
    [400, "temperature: range: 0..1", "refused again"],
    [422, "extra fields not permitted", "refused again"],
    [307, "a redirect to /v1/messages", "base URL"],
    [403, "no access to this model", "another key or model"],
    [429, "slow down", "--fallback-model"],
  ])("says what to do after %i %s", (status, message, hint) => {
    expect(answerError(endpoint, { status, type: "", code: "", message }).hint).toContain(hint);
  });

  it.each(["key-0a/9+Zq==77", "a-long-enough-secret"])("shows %s in no spelling", (secret) => {
    const spelt = [secret, encodeURIComponent(secret), Buffer.from(secret).toString("base64")];
    const { message } = answerError(
      { ...endpoint, secret },
      answer(400, `no: ${spelt.join(" ")} Bearer ${secret}`),
    );
    expect(message).toBe("Anthropic answered 400: no: [key] [key] [key] Bearer [key]");
  });

  it("leaves a text as it is where the key is no secret", () => {
    const { message } = answerError({ ...endpoint, secret: "x" }, answer(400, "max_tokens is too large"));
    expect(message).toBe("Anthropic answered 400: max_tokens is too large");
  });

  it("reads Retry-After and x-should-retry", () => {
    const headers = new Headers({ "retry-after": "7", "x-should-retry": "false" });
    expect(answerError(endpoint, { ...answer(429, "slow down"), headers })).toMatchObject({
      kind: "rate_limit",
      status: 429,
      retryAfterMs: 7000,
      shouldRetry: false,
    });
  });

  it("shows neither key nor credentials of the URL, nor what looks like a key", () => {
    const error = answerError(endpoint, answer(401, "bad s3cret-value and sk-abc123456 and sk-p***xyz"));
    expect(`${error.message} ${error.hint}`).not.toMatch(/s3cret|sk-|word/);
    expect(error.hint).toBe("Set ANTHROPIC_API_KEY to a key that is valid at https://host.example/v1.");
  });
});

describe("retryAfter()", () => {
  it.each([
    [{ "retry-after": "1.5" }, 1500],
    [{ "retry-after": "Thu, 01 Jan 1970 00:00:10 GMT" }, 9000],
    [{ "retry-after": "Thu, 01 Jan 1970 00:00:10 GMT", date: "Thu, 01 Jan 1970 00:00:07 GMT" }, 3000],
    [{ "retry-after": "Thu, 01 Jan 1970 00:00:00 GMT" }, undefined],
    [{ "retry-after": "0" }, undefined],
    [{ "retry-after": "soon" }, undefined],
    [{ "retry-after": "-1" }, undefined],
    [{ "retry-after-ms": "250", "retry-after": "9" }, 250],
    [{}, undefined],
  ])("takes %j as %s ms", (headers, ms) => {
    expect(retryAfter(new Headers(headers as Record<string, string>), 1000)).toBe(ms);
  });
});

describe("connectionError()", () => {
  it("finds the socket's error in the chain of causes", () => {
    const socket = Object.assign(new Error("connect"), { code: "ECONNREFUSED" });
    const error = new Error("Connection error.", { cause: new TypeError("fetch failed", { cause: socket }) });
    expect(connectionError(endpoint, error)).toMatchObject({
      kind: "connection",
      message: "nothing answers at https://host.example/v1 (connection refused)",
      hint: "Check the network.",
    });
  });

  it.each([
    ["SELF_SIGNED_CERT_IN_CHAIN", "NODE_EXTRA_CA_CERTS"],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "NODE_EXTRA_CA_CERTS"],
    ["ERR_PROXY_INVALID_CONFIG", "HTTPS_PROXY"],
  ])("names what helps against %s, which no other attempt does", (code, name) => {
    const error = connectionError(endpoint, Object.assign(new Error("no"), { code }));
    expect(error).toMatchObject({ shouldRetry: false, hint: expect.stringContaining(name) });
    expect(error.message).toContain(code);
  });
});

it.each(["s3\ncret", "s3 cret", "s3crét", " s3cret"])(
  "checkKey() refuses %j for good, without showing it",
  (secret) => {
    const refused = expect.objectContaining({ code: "UNAVAILABLE", shouldRetry: false });
    expect(() => checkKey({ ...endpoint, secret })).toThrow(refused);
    expect(() => checkKey({ ...endpoint, secret })).not.toThrow(secret);
  },
);

it("checkKey() takes a key as vendors make them", () => {
  expect(() => checkKey({ ...endpoint, secret: "sk-ant-api03_Ab.c=" })).not.toThrow();
});
