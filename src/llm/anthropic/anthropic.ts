/** Anthropic Messages: the reference dialect. Also for other servers that speak it. */
import type { ModelCard, StreamEvent, Usage } from "../../abi/llm.ts";
import { LlmError } from "../../abi/llm-error.ts";
import { cardOf, costOf } from "../cards.ts";
import type { AttemptRequest, Check, Driver } from "../driver.ts";
import { findBaseUrl } from "../http/base-url.ts";
import { type Body, HttpClient, HttpRefusal, type PostOptions } from "../http/client.ts";
import {
  answerError,
  cancelled,
  checkKey,
  connectionError,
  type Endpoint,
  type ErrorAnswer,
  malformedStream,
  notAModel,
  notConfigured,
  parseJson,
} from "../http/failure.ts";
import { formOf, readRest, readSse, readText } from "../http/sse.ts";
import { type Json, objectOf, stringOf } from "../json.ts";
import { withOwn } from "../own-models.ts";
import { messagesParts } from "./body.ts";
import { eventsOfMessage, MessagesDecoder } from "./events.ts";
import { betasOf, thinkingPart } from "./thinking.ts";

/** The environment variables that an instance depends on. */
export const ANTHROPIC_ENV = [
  "ANTHROPIC_API_KEY",
  "ANTHROPIC_AUTH_TOKEN",
  "ANTHROPIC_BASE_URL",
  "CRUX_DISABLE_EXPERIMENTAL_BETAS",
] as const;

const device = "/dev/llm/anthropic";
const setKey = "Run `crux auth login anthropic`, or set ANTHROPIC_API_KEY to your API key.";
/** The version of the interface: https://docs.claude.com/en/api/versioning */
const headers = { "anthropic-version": "2023-06-01" } as const;

export class AnthropicDriver implements Driver {
  readonly name = "anthropic";
  readonly #endpoint: Endpoint;
  readonly #env: Readonly<Record<string, string>>;
  #client: HttpClient | undefined;

  constructor(env: Readonly<Record<string, string>>) {
    const key = env.ANTHROPIC_API_KEY ?? "";
    this.#env = env;
    this.#endpoint = {
      device,
      vendor: "Anthropic",
      // with the version, as other interfaces want it, or without
      baseUrl:
        findBaseUrl(env.ANTHROPIC_BASE_URL, "https://api.anthropic.com")?.replace(/\/v1\/?(?=$|\?)/, "") ??
        "",
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
    const card = withOwn(this.card(request.model), request.own);
    const maxOutputTokens = Math.min(request.maxOutputTokens, card.maxOutputTokens);
    const told = thinkingPart(request, card, maxOutputTokens);
    const betas =
      (this.#env.CRUX_DISABLE_EXPERIMENTAL_BETAS ?? "") === "" ? betasOf(request, card, told) : [];
    const body = messagesParts(request, {
      before: { model: card.id, max_tokens: maxOutputTokens },
      after: { ...told, stream: request.whole !== true },
    });
    const decoder = new MessagesDecoder();
    try {
      const posted = await this.#post(body, betas, { signal, limited: request.limited });
      const { form, body: reply } = await formOf(posted);
      if (form === "page") throw notAModel(endpoint, "ANTHROPIC_BASE_URL", await readText(reply));
      if (form === "json") {
        for (const raw of eventsOfMessage(await messageIn(reply, endpoint))) yield* decoder.decode(raw);
        return;
      }
      for await (const data of readSse(reply)) {
        const raw = objectOf(parseJson(data, endpoint));
        if (raw.type === "error") throw failureIn(raw, endpoint);
        const isLast = raw.type === "message_stop";
        // read the rest first: a consumer may stop after the last event
        if (isLast) await readRest(reply);
        yield* decoder.decode(raw);
        if (isLast) return;
      }
    } catch (error) {
      if (signal.aborted) throw cancelled(device, signal.reason);
      if (error instanceof RangeError) throw malformedStream(endpoint, error.message);
      throw error instanceof LlmError ? error : connectionError(endpoint, error);
    }
    if (signal.aborted) throw cancelled(device, signal.reason);
    throw malformedStream(endpoint, "the reply ended before it was complete (no message_stop)");
  }

  async check(signal: AbortSignal): Promise<Check> {
    try {
      await this.#http.ask("/v1/models?limit=1", { signal, headers }).catch((error: unknown) => {
        throw this.#failure(error);
      });
      return { ok: true };
    } catch (error) {
      const failure = error instanceof LlmError ? error : connectionError(this.#endpoint, error);
      return { ok: false, error: failure, hint: failure.hint ?? setKey };
    }
  }

  async close(): Promise<void> {
    this.#client?.close();
  }

  async #post(body: readonly Uint8Array[], betas: readonly string[], given: PostOptions): Promise<Body> {
    const more = betas.length === 0 ? {} : { "anthropic-beta": betas.join(",") };
    try {
      return await this.#http.post("/v1/messages", body, { ...given, headers: { ...headers, ...more } });
    } catch (error) {
      throw this.#failure(error);
    }
  }

  #failure(error: unknown): unknown {
    if (!(error instanceof HttpRefusal)) return error;
    const { status, headers: told, body, message } = error;
    return answerError(this.#endpoint, { status, headers: told, ...wordsOf(body, message) });
  }

  get #http(): HttpClient {
    const { baseUrl, secret } = this.#endpoint;
    if (baseUrl === "")
      throw notConfigured(device, "ANTHROPIC_BASE_URL is not an http(s) URL", "Set it to a URL or unset it.");
    if (secret === "")
      throw notConfigured(device, "neither ANTHROPIC_API_KEY nor ANTHROPIC_AUTH_TOKEN is set", setKey);
    checkKey(this.#endpoint);
    const isKey = (this.#env.ANTHROPIC_API_KEY ?? "") !== "";
    const credential = isKey ? { "x-api-key": secret } : { authorization: `Bearer ${secret}` };
    this.#client ??= new HttpClient(baseUrl, credential);
    return this.#client;
  }
}

/** `body` is `{type: "error", error: {type, message}}`. */
function wordsOf(body: unknown, fallback = ""): Pick<ErrorAnswer, "type" | "code" | "message"> {
  const inner = objectOf(objectOf(body).error);
  return { type: stringOf(inner.type), code: "", message: stringOf(inner.message) || fallback };
}

/** The one message of an answer that is not a stream. */
async function messageIn(reply: Body, endpoint: Endpoint): Promise<Json> {
  const text = await readText(reply);
  const message = objectOf(parseJson(text, endpoint));
  if (message.type === "error" || message.error !== undefined) throw failureIn(message, endpoint);
  if (message.type !== "message") throw malformedStream(endpoint, `the answer is not a message: ${text}`);
  return message;
}

function failureIn(event: Json, endpoint: Endpoint): LlmError {
  return answerError(endpoint, { status: undefined, headers: undefined, ...wordsOf(event) });
}
