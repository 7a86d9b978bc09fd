/**
 * Claude on Amazon Bedrock by InvokeModel
 * (https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages.html): the wire of its
 * vendor, with the model in the path, AWS's credentials, and AWS's frames around the events of a stream. The vendor SDKs were
 * measured and left out: 18 MB on disk, and 51 ms and 15 MB of memory to load, for what stands in this folder.
 */
import { messagesBody } from "../anthropic/body.ts";
import { eventsOfMessage } from "../anthropic/events.ts";
import { ClaudeStream } from "../anthropic/stream.ts";
import { betasOf, thinkingPart } from "../anthropic/thinking.ts";
import { cardOf } from "../cards.ts";
import type { AttemptRequest } from "../driver.ts";
import { findBaseUrl } from "../http/base-url.ts";
import type { Codec, ErrorWords } from "../http/codec.ts";
import { notConfigured } from "../http/failure.ts";
import { HttpDriver, type Outgoing, type Profile } from "../http/http-driver.ts";
import { kindOf } from "../http/kinds.ts";
import { type Json, objectOf, stringOf } from "../json.ts";
import { withOwn } from "../own-models.ts";
import { awsKeys, KEYS_HINT } from "./credentials.ts";
import { readEventStream } from "./event-stream.ts";
import { signed } from "./sign.ts";

type Env = Readonly<Record<string, string>>;

const device = "/dev/llm/bedrock";
const setUpHint =
  "Set AWS_REGION, and AWS_ACCESS_KEY_ID with its secret, AWS_PROFILE or AWS_BEARER_TOKEN_BEDROCK.";
/** The version of the interface. */
const VERSION = "bedrock-2023-05-31";
const SERVICE = "bedrock";

/** `now`: the wall clock, which a signature holds. */
export function bedrockDriver(env: Env, now: () => number = Date.now): HttpDriver {
  return new HttpDriver(bedrockProfile(env, now), bedrockCodec(env));
}

function bedrockCodec(env: Env): Codec {
  const pathOf = (model: string, verb: string): string =>
    `/model/${encodeURIComponent(bedrockId(model))}/${verb}`;
  return {
    path: (model, isWhole) => pathOf(model, isWhole ? "invoke" : "invoke-with-response-stream"),
    body: (request, model, { maxOutputTokens }) => claudeBody(env, request, { model, maxOutputTokens }),
    decoder: () => new ClaudeStream(failureOf),
    whole: eventsOfMessage,
    frames: readEventStream,
    refusal: (body, fallback, status) => wordsOf({ ...body, status }, fallback),
    check: (model) => ({ path: pathOf(model, "count-tokens"), json: QUESTION }),
  };
}

/** The shortest request, whose tokens are counted when nothing but an answer is wanted: it costs nothing. */
const QUESTION = JSON.stringify({
  input: {
    invokeModel: {
      body: Buffer.from(
        JSON.stringify({
          anthropic_version: VERSION,
          max_tokens: 1,
          messages: [{ role: "user", content: "Hi" }],
        }),
      ).toString("base64"),
    },
  },
});

/** A name of the vendor's own is asked for in all regions that have it. */
function bedrockId(model: string): string {
  return /^claude-/.test(model) ? `global.anthropic.${model}` : model;
}

interface Limited {
  readonly model: string;
  readonly maxOutputTokens: number;
}

function claudeBody(env: Env, request: AttemptRequest, { model, maxOutputTokens }: Limited): string {
  const card = withOwn({ ...cardOf("bedrock", model), id: model }, request.own);
  const told = thinkingPart(request, card, maxOutputTokens);
  const betas = env.CRUX_DISABLE_EXPERIMENTAL_BETAS ? [] : betasOf(request, card, told);
  const named = betas.length === 0 ? {} : { anthropic_beta: betas };
  return messagesBody(request, {
    before: { anthropic_version: VERSION, max_tokens: maxOutputTokens, ...named },
    after: { ...told },
  });
}

/** Exceptions within a stream, which have no status; others count as errors of the server. */
const statuses: Readonly<Record<string, number>> = {
  throttlingException: 429,
  modelTimeoutException: 408,
  serviceUnavailableException: 503,
  validationException: 400,
  accessDeniedException: 403,
  resourceNotFoundException: 404,
};

function failureOf({ type, name, message, error }: Json): ErrorWords | undefined {
  if (type === "exception") {
    const status = statuses[stringOf(name)] ?? 500;
    return wordsOf({ type: name, message, status }, stringOf(name));
  }
  // the model's own, within a chunk
  if (type !== "error") return undefined;
  const own = objectOf(error);
  return { type: stringOf(own.type), code: "", message: stringOf(own.message) };
}

/** Refused credentials are a 403, as is a model that was not opened to them; only the words tell. */
function wordsOf({ type, message, status }: Json, fallback: string): ErrorWords {
  const words = { type: stringOf(type), code: "", message: stringOf(message) || fallback };
  if (status === 503) return { ...words, kind: "overloaded" };
  if (status === 424) return { ...words, kind: "server" };
  if (status === 403 && /security token|signature|credential|make sure your api key/i.test(words.message))
    return { ...words, kind: "auth" };
  return { ...words, kind: kindOf({ ...words, status: Number(status) }) };
}

function bedrockProfile(env: Env, now: () => number): Profile {
  const region = env.AWS_REGION || env.AWS_DEFAULT_REGION || "";
  const { AWS_BEARER_TOKEN_BEDROCK: bearer = "" } = env;
  const authorize = async ({ method, url, body }: Outgoing): Promise<Record<string, string>> => {
    if (region === "") throw notConfigured(device, "AWS_REGION is not set", setUpHint);
    if (bearer !== "") return {};
    return signed(
      { method, url, body },
      { keys: await awsKeys(env, device), region, service: SERVICE, atMs: now() },
    );
  };
  return {
    name: "bedrock",
    baseUrlName: "ANTHROPIC_BEDROCK_BASE_URL",
    model: "",
    hasVendorsModels: true,
    setUpHint,
    needsKey: false,
    authorize,
    endpoint: {
      device,
      vendor: "Bedrock",
      baseUrl:
        findBaseUrl(env.ANTHROPIC_BEDROCK_BASE_URL, `https://bedrock-runtime.${region}.amazonaws.com`) ?? "",
      keyName: bearer === "" ? "AWS_SECRET_ACCESS_KEY" : "AWS_BEARER_TOKEN_BEDROCK",
      secret: bearer,
      ...(bearer === "" ? { loginHint: KEYS_HINT } : {}),
      unreachableHint: "Check the network, AWS_REGION and ANTHROPIC_BEDROCK_BASE_URL.",
    },
  };
}
