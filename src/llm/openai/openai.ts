/**
 * Chat Completions, for the vendor and for every other server of the dialect (vLLM, DeepSeek,
 * Ollama …). One class, with one profile per driver name.
 */
import type { ModelCard, StreamEvent, Usage } from "../../abi/llm.ts";
import { LlmError } from "../../abi/llm-error.ts";
import { cardOf, costOf, findTier } from "../cards.ts";
import type { AttemptRequest, Check, Driver } from "../driver.ts";
import { type Body, HttpClient, HttpRefusal } from "../http/client.ts";
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
import { objectOf, objectsOf, stringOf } from "../json.ts";
import { chatBody, type Quirks, quirksOf } from "./body.ts";
import { ChatDecoder } from "./chunks.ts";
import { OPENAI_URL, type Profile } from "./profile.ts";

export class OpenAiDriver implements Driver {
  readonly name: "openai" | "ollama";
  readonly #profile: Profile;
  readonly #endpoint: Endpoint;
  readonly #quirks: Quirks;
  #client: HttpClient | undefined;
  /** The first model that a self-hosted server lists; requested once. */
  #firstModel: string | undefined;

  constructor(profile: Profile) {
    this.name = profile.name;
    this.#profile = profile;
    this.#endpoint = profile.endpoint;
    this.#quirks = quirksOf(profile.endpoint.baseUrl);
  }

  card(model: string): ModelCard {
    return cardOf(this.name, model === "" ? this.#profile.model : model);
  }

  cost(model: string, usage: Usage): number | null {
    return costOf(this.name, model === "" ? this.#profile.model : model, usage);
  }

  async models(signal: AbortSignal): Promise<ModelCard[]> {
    const answer = await this.#http.get("/models", { signal }).catch((error: unknown) => {
      throw this.#failure(error);
    });
    return objectsOf(objectOf(answer).data).map(({ id }) => this.card(stringOf(id)));
  }

  async *stream(request: AttemptRequest, signal: AbortSignal): AsyncGenerator<StreamEvent> {
    const endpoint = this.#endpoint;
    const decoder = new ChatDecoder();
    try {
      const reply = await this.#post(request, signal);
      for await (const data of readSse(reply)) {
        if (data === "[DONE]") {
          // read the rest first: a consumer may stop after the last event
          await readRest(reply);
          yield* decoder.finish();
          return;
        }
        const chunk = parseChunk(data, endpoint);
        if (chunk.error !== undefined && chunk.error !== null)
          throw answerError(endpoint, { status: undefined, headers: undefined, ...wordsOf(chunk.error) });
        yield* decoder.decode(chunk);
      }
    } catch (error) {
      if (signal.aborted) throw cancelled(endpoint.device, signal.reason);
      if (error instanceof RangeError) throw malformedStream(endpoint, error.message);
      throw error instanceof LlmError ? error : connectionError(endpoint, error);
    }
    if (signal.aborted) throw cancelled(endpoint.device, signal.reason);
    // some servers close the body instead of sending [DONE]
    if (!decoder.isFinished)
      throw malformedStream(endpoint, "the reply ended before it was complete (no finish_reason)");
    yield* decoder.finish();
  }

  async check(signal: AbortSignal): Promise<Check> {
    try {
      await this.models(signal);
      return { ok: true };
    } catch (error) {
      const failure = error instanceof LlmError ? error : connectionError(this.#endpoint, error);
      return { ok: false, error: failure, hint: failure.hint ?? this.#profile.setUpHint };
    }
  }

  async close(): Promise<void> {
    this.#client?.close();
  }

  async #post(request: AttemptRequest, signal: AbortSignal): Promise<Body> {
    const http = this.#http;
    const model = await this.#modelOf(request.model, signal);
    const { maxOutputTokens } = this.card(model);
    const body = chatBody(request, model, Math.min(request.maxOutputTokens, maxOutputTokens), this.#quirks);
    try {
      return await http.post("/chat/completions", JSON.stringify(body), { signal });
    } catch (error) {
      throw this.#failure(error);
    }
  }

  /**
   * The model id to send. Tiers and defaults are the vendor's; a self-hosted server is asked for its models, unless an
   * environment variable names one.
   */
  async #modelOf(model: string, signal: AbortSignal): Promise<string> {
    const isNamed = model !== "" && findTier(model) === undefined;
    if (isNamed || this.#endpoint.baseUrl === OPENAI_URL) return this.card(model).id;
    if (this.#profile.model !== "") return this.#profile.model;
    this.#firstModel ??= (await this.models(signal))[0]?.id;
    if (this.#firstModel !== undefined && this.#firstModel !== "") return this.#firstModel;
    const { device, vendor } = this.#endpoint;
    throw new LlmError({
      kind: "model_not_found",
      device,
      message: `${vendor} has no model yet`,
      hint: this.#profile.setUpHint,
    });
  }

  #failure(error: unknown): unknown {
    if (!(error instanceof HttpRefusal)) return error;
    const { status, headers, body, message } = error;
    return answerError(this.#endpoint, { status, headers, ...wordsOf(body.error, message) });
  }

  get #http(): HttpClient {
    const { device, baseUrl, secret, keyName } = this.#endpoint;
    const { setUpHint, baseUrlName } = this.#profile;
    if (baseUrl === "")
      throw notConfigured(device, `${baseUrlName} is not an http(s) URL`, "Set it to a URL or unset it.");
    if (secret === "") throw notConfigured(device, `${keyName} is not set`, setUpHint);
    checkKey(this.#endpoint);
    this.#client ??= new HttpClient(baseUrl, { authorization: `Bearer ${secret}` });
    return this.#client;
  }
}

/** `error` is `{message, type, code}`, or a plain string from some servers. */
function wordsOf(error: unknown, fallback = ""): Pick<ErrorAnswer, "type" | "code" | "message"> {
  const { type, code, message } = objectOf(error);
  const text = stringOf(error) || stringOf(message) || fallback;
  return { type: stringOf(type), code: stringOf(code), message: text };
}

function parseChunk(data: string, endpoint: Endpoint): Record<string, unknown> {
  try {
    return objectOf(JSON.parse(data));
  } catch {
    throw malformedStream(endpoint, "an event of the reply is not JSON");
  }
}
