/** A driver for a server that streams its replies: one class, with a profile per driver name, and a codec for the interface. */
import type { ModelCard, StreamEvent, Usage } from "../../abi/llm.ts";
import { LlmError } from "../../abi/llm-error.ts";
import { type CardedDriver, cardOf, costOf, findTier, nearModels } from "../cards.ts";
import type { AttemptRequest, Check, Driver } from "../driver.ts";
import { type Json, objectOf } from "../json.ts";
import { withOwn } from "../own-models.ts";
import { placeBelow } from "./base-url.ts";
import { type Body, HttpClient, HttpRefusal, type Patience } from "./client.ts";
import type { Ask, Codec, Decoder, ModelFacts } from "./codec.ts";
import {
  answerError,
  cancelled,
  checkKey,
  connectionError,
  type Endpoint,
  malformedStream,
  notAModel,
  notConfigured,
  parseJson,
} from "./failure.ts";
import { formOf, readRest, readSse, readText } from "./sse.ts";

/** The server that a driver talks to, from the caller's environment. */
export interface Profile {
  readonly name: CardedDriver;
  readonly endpoint: Endpoint;
  /** The environment variable with the base URL. */
  readonly baseUrlName: string;
  /** The default model; "" leaves it to the card or the server. */
  readonly model: string;
  /** The model that the environment names for a size, or for ""; "": none. */
  readonly named?: (model: string) => string;
  /** One line: how to configure the driver. */
  readonly setUpHint: string;
  /** Whether the server has the vendor's models, so that tiers and defaults are the vendor's. */
  readonly hasVendorsModels: boolean;
  /** How long a connection may be silent, if longer than usual. */
  readonly patience?: Patience;
  /** The header that holds the key as it is; absent: it is a bearer token. */
  readonly keyHeader?: string;
  /** False: the server may ask for none. */
  readonly needsKey?: false;
  /** The headers that prove who asks, for each request, in place of a key. */
  readonly authorize?: (sent: Outgoing) => Promise<Readonly<Record<string, string>>>;
  /** Called when what `authorize` gave is refused; true: with the next request it gives something new. */
  readonly renew?: () => boolean;
}

/** A request that is about to be sent. */
export interface Outgoing {
  readonly method: "GET" | "POST";
  readonly url: URL;
  /** "": it has none. */
  readonly body: string;
  readonly signal: AbortSignal;
}

/** Of how many models the facts are kept. */
const MAX_FACTS = 64;

export class HttpDriver implements Driver {
  readonly name: Profile["name"];
  readonly #profile: Profile;
  readonly #endpoint: Endpoint;
  readonly #codec: Codec;
  #client: HttpClient | undefined;
  /** The first model that a self-hosted server lists; requested once. */
  #firstModel: string | undefined;
  /** What the server said of its models. */
  readonly #facts = new Map<string, ModelFacts>();

  constructor(profile: Profile, codec: Codec) {
    this.name = profile.name;
    this.#profile = profile;
    this.#endpoint = profile.endpoint;
    this.#codec = codec;
  }

  card(model: string): ModelCard {
    return cardOf(this.name, this.#named(model));
  }

  cost(model: string, usage: Usage): number | null {
    return costOf(this.name, this.#named(model), usage);
  }

  #named(model: string): string {
    return this.#profile.named?.(model) || (model === "" ? this.#profile.model : model);
  }

  async models(signal: AbortSignal): Promise<ModelCard[]> {
    const { models } = this.#codec;
    if (models === undefined) return [];
    return models.ids(await this.#ask(models.path, signal)).map((id) => this.card(id));
  }

  async *stream(request: AttemptRequest, signal: AbortSignal): AsyncGenerator<StreamEvent> {
    const endpoint = this.#endpoint;
    let decoder: Decoder | undefined;
    try {
      const http = this.#http;
      const model = await this.#modelOf(request.model, signal);
      decoder = this.#codec.decoder(model);
      const { frames } = this.#codec;
      const { form, body: reply } = await formOf(await this.#post(http, request, { model, signal }));
      if (form === "page") throw notAModel(endpoint, this.#profile.baseUrlName, await readText(reply));
      if (frames === undefined ? form === "json" : request.whole === true) {
        yield* this.#whole(await readText(reply), decoder);
        yield* this.#finish(decoder, request);
        return;
      }
      for await (const data of (frames ?? readSse)(reply)) {
        if (data.trim() !== "[DONE]") {
          yield* decoded(decoder, parseEvent(data, endpoint), endpoint);
          if (!decoder.isOver) continue;
        }
        // read the rest first: a consumer may stop after the last event
        await readRest(reply);
        yield* this.#finish(decoder, request);
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
    yield* this.#finish(decoder, request);
  }

  /** One complete answer, or the parts of one in a list. */
  *#whole(text: string, decoder: Decoder): Generator<StreamEvent> {
    const endpoint = this.#endpoint;
    const answer = parseJson(text, endpoint);
    for (const part of Array.isArray(answer) ? answer : [answer])
      for (const event of this.#codec.whole(objectOf(part))) yield* decoded(decoder, event, endpoint);
    if (!decoder.isFinished) throw malformedStream(endpoint, `the answer is not a whole reply: ${text}`);
  }

  *#finish(decoder: Decoder, request: AttemptRequest): Generator<StreamEvent> {
    for (const event of decoder.finish()) {
      const remark = event.type === "message_delta" ? this.#codec.remark?.(request, event.usage) : undefined;
      if (remark !== undefined) request.warn?.(remark);
      yield event;
    }
  }

  async check(signal: AbortSignal): Promise<Check> {
    try {
      const asked = this.#codec.check?.(this.card("small").id);
      if (asked === undefined) await this.models(signal);
      else await this.#ask(asked.path, signal, asked.json);
      return { ok: true };
    } catch (error) {
      const failure = error instanceof LlmError ? error : connectionError(this.#endpoint, error);
      return { ok: false, error: failure, hint: failure.hint ?? this.#profile.setUpHint };
    }
  }

  async close(): Promise<void> {
    this.#client?.close();
  }

  async #ask(path: string, signal: AbortSignal, json?: string): Promise<Json> {
    const http = this.#http;
    const headers = await this.#headers(path, signal, json);
    const body = json === undefined ? {} : { json };
    const answer = await http.ask(path, { signal, headers, ...body }).catch((error: unknown) => {
      throw this.#failure(error);
    });
    return objectOf(answer);
  }

  async #post(
    http: HttpClient,
    request: AttemptRequest,
    { model, signal }: { readonly model: string; readonly signal: AbortSignal },
  ): Promise<Body> {
    const { maxOutputTokens: most } = withOwn(this.card(model), request.own);
    try {
      const facts = await this.#factsOf(model, http, signal);
      const maxOutputTokens = Math.min(request.maxOutputTokens, most);
      const json = this.#codec.body(request, model, { maxOutputTokens, facts });
      const path = this.#codec.path(model, request.whole === true);
      const headers = await this.#headers(path, signal, json);
      return await http.post(path, json, { signal, headers, limited: request.limited });
    } catch (error) {
      throw this.#failure(error, nearModels(this.name, model));
    }
  }

  async #factsOf(model: string, http: HttpClient, signal: AbortSignal): Promise<ModelFacts> {
    const { facts } = this.#codec;
    const known = this.#facts.get(model);
    if (facts === undefined || known !== undefined) return known ?? {};
    const ask: Ask = async (path, json) =>
      objectOf(await http.ask(path, { signal, ...(json === undefined ? {} : { json }) }));
    const found = await facts(ask, model);
    if (this.#facts.size >= MAX_FACTS) this.#facts.clear();
    this.#facts.set(model, found);
    return found;
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

  async #headers(
    path: string,
    signal: AbortSignal,
    json?: string,
  ): Promise<Readonly<Record<string, string>>> {
    const { authorize } = this.#profile;
    if (authorize === undefined) return {};
    const url = placeBelow(this.#endpoint.baseUrl, path);
    return authorize({ method: json === undefined ? "GET" : "POST", url, body: json ?? "", signal });
  }

  /** `near`: models with names like that of the one asked for. */
  #failure(error: unknown, near?: readonly string[]): unknown {
    if (!(error instanceof HttpRefusal)) return error;
    const { status, headers, body, message } = error;
    const words = this.#codec.refusal(body, message, status);
    const failure = answerError(this.#endpoint, { status, headers, near, ...words });
    if (failure.kind !== "auth" || this.#profile.renew?.() !== true) return failure;
    const { kind, device, hint } = failure;
    return new LlmError({
      kind,
      device,
      status,
      hint,
      message: failure.message,
      shouldRetry: true,
      retryAfterMs: 0,
    });
  }

  get #http(): HttpClient {
    const { device, baseUrl, secret, keyName } = this.#endpoint;
    const { setUpHint, baseUrlName, keyHeader, needsKey } = this.#profile;
    if (baseUrl === "")
      throw notConfigured(device, `${baseUrlName} is not an http(s) URL`, "Set it to a URL or unset it.");
    if (secret === "" && needsKey !== false) throw notConfigured(device, `${keyName} is not set`, setUpHint);
    checkKey(this.#endpoint);
    const [name, value] =
      keyHeader === undefined ? ["authorization", `Bearer ${secret}`] : [keyHeader, secret];
    this.#client ??= new HttpClient(baseUrl, secret === "" ? {} : { [name]: value }, this.#profile.patience);
    return this.#client;
  }
}

/** Throws LlmError if the event is a failure. */
function decoded(decoder: Decoder, event: Json, endpoint: Endpoint): Iterable<StreamEvent> {
  const failure = decoder.failure(event);
  if (failure !== undefined) throw answerError(endpoint, { status: undefined, ...failure });
  return decoder.decode(event);
}

function parseEvent(data: string, endpoint: Endpoint): Json {
  return objectOf(parseJson(data, endpoint));
}
