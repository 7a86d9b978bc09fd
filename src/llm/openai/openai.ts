/**
 * OpenAI's servers and every other one of the dialect (xAI, vLLM, DeepSeek, Ollama …): one class, with a profile per driver
 * name, and a codec for the interface that the server has.
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
  malformedStream,
  notConfigured,
} from "../http/failure.ts";
import { readRest, readSse } from "../http/sse.ts";
import { objectOf, objectsOf, stringOf } from "../json.ts";
import { withOwn } from "../own-models.ts";
import { wordsOf } from "./chunks.ts";
import type { Codec, Decoder } from "./codec.ts";
import type { Profile } from "./profile.ts";

export class OpenAiDriver implements Driver {
  readonly name: Profile["name"];
  readonly #profile: Profile;
  readonly #endpoint: Endpoint;
  readonly #codec: Codec;
  #client: HttpClient | undefined;
  /** The first model that a self-hosted server lists; requested once. */
  #firstModel: string | undefined;

  constructor(profile: Profile, codec: Codec) {
    this.name = profile.name;
    this.#profile = profile;
    this.#endpoint = profile.endpoint;
    this.#codec = codec;
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
    let decoder: Decoder | undefined;
    try {
      const http = this.#http;
      const model = await this.#modelOf(request.model, signal);
      decoder = this.#codec.decoder(model);
      const reply = await this.#post(http, request, { model, signal });
      for await (const data of readSse(reply)) {
        if (data !== "[DONE]") {
          const event = parseEvent(data, endpoint);
          const failure = decoder.failure(event);
          if (failure !== undefined) throw answerError(endpoint, { status: undefined, ...failure });
          yield* decoder.decode(event);
          if (!decoder.isOver) continue;
        }
        // read the rest first: a consumer may stop after the last event
        await readRest(reply);
        yield* decoder.finish();
        return;
      }
    } catch (error) {
      if (signal.aborted) throw cancelled(endpoint.device, signal.reason);
      if (error instanceof RangeError) throw malformedStream(endpoint, error.message);
      throw error instanceof LlmError ? error : connectionError(endpoint, error);
    }
    if (signal.aborted) throw cancelled(endpoint.device, signal.reason);
    // some servers close the body instead of sending [DONE]
    if (decoder?.isFinished !== true)
      throw malformedStream(endpoint, "the reply ended before it was complete");
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

  async #post(
    http: HttpClient,
    request: AttemptRequest,
    { model, signal }: { readonly model: string; readonly signal: AbortSignal },
  ): Promise<Body> {
    const { maxOutputTokens } = withOwn(this.card(model), request.own);
    const { path, body } = this.#codec;
    try {
      const json = body(request, model, Math.min(request.maxOutputTokens, maxOutputTokens));
      return await http.post(path, json, { signal });
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
    if (isNamed || this.#profile.hasVendorsModels) return this.card(model).id;
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
    const credential = { authorization: `Bearer ${secret}` };
    this.#client ??= new HttpClient(baseUrl, credential, this.#profile.patience);
    return this.#client;
  }
}

function parseEvent(data: string, endpoint: Endpoint): Record<string, unknown> {
  try {
    return objectOf(JSON.parse(data));
  } catch {
    throw malformedStream(endpoint, "an event of the reply is not JSON");
  }
}
