/** Anthropic Messages over the vendor's SDK: the reference dialect. Also for other servers that speak it. */
import type Anthropic from "@anthropic-ai/sdk";
import type { ModelCard, StreamEvent, Usage } from "../../abi/llm.ts";
import { LlmError } from "../../abi/llm-error.ts";
import { cardOf, costOf } from "../cards.ts";
import type { AttemptRequest, Check, Driver } from "../driver.ts";
import { endpointFetch, findBaseUrl } from "../http/endpoint-fetch.ts";
import {
  answerError,
  cancelled,
  checkKey,
  connectionError,
  type Endpoint,
  type ErrorAnswer,
  malformedStream,
  notConfigured,
} from "../http/failure.ts";
import { readRest, readSse } from "../http/sse.ts";
import { objectOf, stringOf } from "../json.ts";
import { messagesBody } from "./body.ts";
import { MessagesDecoder } from "./events.ts";

/** The environment variables that an instance depends on. */
export const ANTHROPIC_ENV = ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"] as const;

const device = "/dev/llm/anthropic";
const setKey = "Set ANTHROPIC_API_KEY to your API key.";
/** Declares the body as JSON, since the SDK sends a string body unchanged. */
const JSON_BODY = { "content-type": "application/json" } as const;
/** Beyond any attempt's limit: the device's own watchdog ends attempts earlier. */
const requestTimeoutMs = 30 * 60_000;

export class AnthropicDriver implements Driver {
  readonly name = "anthropic";
  readonly #endpoint: Endpoint;
  readonly #env: Readonly<Record<string, string>>;
  #client: Promise<Anthropic> | undefined;

  constructor(env: Readonly<Record<string, string>>) {
    const key = env.ANTHROPIC_API_KEY ?? "";
    this.#env = env;
    this.#endpoint = {
      device,
      vendor: "Anthropic",
      baseUrl: findBaseUrl(env.ANTHROPIC_BASE_URL, "https://api.anthropic.com") ?? "",
      keyName: key === "" ? "ANTHROPIC_AUTH_TOKEN" : "ANTHROPIC_API_KEY",
      secret: key === "" ? (env.ANTHROPIC_AUTH_TOKEN ?? "") : key,
      unreachableHint: "Check the network and ANTHROPIC_BASE_URL.",
    };
  }

  card(model: string): ModelCard {
    return cardOf("anthropic", model);
  }

  cost(model: string, usage: Usage): number | null {
    return costOf("anthropic", model, usage);
  }

  async *stream(request: AttemptRequest, signal: AbortSignal): AsyncGenerator<StreamEvent> {
    const endpoint = this.#endpoint;
    const { id, maxOutputTokens } = this.card(request.model);
    const body = messagesBody(request, id, Math.min(request.maxOutputTokens, maxOutputTokens));
    const decoder = new MessagesDecoder();
    try {
      const response = await this.#post(body, signal);
      const reader = (response.body ?? ReadableStream.from<Uint8Array>([])).getReader();
      for await (const data of readSse(reader)) {
        const raw = parseEvent(data, endpoint);
        if (raw.type === "error")
          throw answerError(endpoint, { status: undefined, headers: undefined, ...wordsOf(raw) });
        const event = decoder.decode(raw);
        if (event === undefined) continue;
        const isLast = event.type === "message_stop";
        // read the rest first: a consumer may stop after the last event
        if (isLast) await readRest(reader);
        yield event;
        if (isLast) return;
      }
    } catch (error) {
      if (signal.aborted) throw cancelled(device, signal.reason);
      throw error instanceof LlmError ? error : connectionError(endpoint, error);
    }
    if (signal.aborted) throw cancelled(device, signal.reason);
    throw malformedStream(endpoint, "the reply ended before it was complete (no message_stop)");
  }

  async check(signal: AbortSignal): Promise<Check> {
    try {
      const client = await this.#sdk();
      await client.get("/v1/models?limit=1", { signal }).catch((error: unknown) => {
        throw this.#failure(error);
      });
      return { ok: true };
    } catch (error) {
      const failure = error instanceof LlmError ? error : connectionError(this.#endpoint, error);
      return { ok: false, error: failure, hint: failure.hint ?? setKey };
    }
  }

  async close(): Promise<void> {}

  async #post(body: string, signal: AbortSignal): Promise<Response> {
    const client = await this.#sdk();
    try {
      return await client
        .post("/v1/messages", { body, headers: JSON_BODY, stream: true, signal })
        .asResponse();
    } catch (error) {
      throw this.#failure(error);
    }
  }

  #failure(error: unknown): unknown {
    const answer = findAnswer(error);
    return answer === undefined ? error : answerError(this.#endpoint, answer);
  }

  #sdk(): Promise<Anthropic> {
    const { baseUrl, secret } = this.#endpoint;
    if (baseUrl === "")
      throw notConfigured(device, "ANTHROPIC_BASE_URL is not an http(s) URL", "Set it to a URL or unset it.");
    if (secret === "")
      throw notConfigured(device, "neither ANTHROPIC_API_KEY nor ANTHROPIC_AUTH_TOKEN is set", setKey);
    checkKey(this.#endpoint);
    this.#client ??= this.#connect();
    return this.#client;
  }

  async #connect(): Promise<Anthropic> {
    const { default: Client } = await import("@anthropic-ai/sdk");
    const { baseUrl, secret } = this.#endpoint;
    const isKey = (this.#env.ANTHROPIC_API_KEY ?? "") !== "";
    return new Client({
      baseURL: baseUrl,
      // passing a credential keeps the SDK from looking for others; endpointFetch decides how it is sent
      apiKey: secret,
      fetch: endpointFetch(isKey ? { "x-api-key": secret } : { authorization: `Bearer ${secret}` }),
      maxRetries: 0,
      timeout: requestTimeoutMs,
      logLevel: "off",
      openTelemetry: false,
    });
  }
}

/** The server's answer, taken from the SDK's error; undefined: the server did not answer. */
function findAnswer(error: unknown): ErrorAnswer | undefined {
  if (!(error instanceof Error) || !("status" in error) || typeof error.status !== "number") return undefined;
  const headers = "headers" in error && error.headers instanceof Headers ? error.headers : undefined;
  const body = "error" in error ? error.error : undefined;
  return { status: error.status, headers, ...wordsOf(body, error.message) };
}

/** `body` is `{type: "error", error: {type, message}}`. */
function wordsOf(body: unknown, fallback = ""): Pick<ErrorAnswer, "type" | "code" | "message"> {
  const inner = objectOf(objectOf(body).error);
  return { type: stringOf(inner.type), code: "", message: stringOf(inner.message) || fallback };
}

function parseEvent(data: string, endpoint: Endpoint): Record<string, unknown> {
  try {
    return objectOf(JSON.parse(data));
  } catch {
    throw malformedStream(endpoint, "an event of the reply is not JSON");
  }
}
