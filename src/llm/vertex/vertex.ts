/** Claude and Gemini on Google Cloud: the wires of their vendors, with Google's credentials and the model in the path. */
import type { ModelCard } from "../../abi/llm.ts";
import { messagesBody } from "../anthropic/body.ts";
import { eventsOfMessage } from "../anthropic/events.ts";
import { ClaudeStream } from "../anthropic/stream.ts";
import { thinkingPart } from "../anthropic/thinking.ts";
import { cardOf } from "../cards.ts";
import type { AttemptRequest } from "../driver.ts";
import { geminiBody } from "../gemini/body.ts";
import { GeminiDecoder } from "../gemini/events.ts";
import { refusalWords } from "../gemini/failure.ts";
import { generate } from "../gemini/gemini.ts";
import { findBaseUrl } from "../http/base-url.ts";
import type { Codec, ErrorWords } from "../http/codec.ts";
import { notConfigured } from "../http/failure.ts";
import { HttpDriver, type Profile } from "../http/http-driver.ts";
import { type Json, objectOf, objectsOf, stringOf } from "../json.ts";
import { withOwn } from "../own-models.ts";
import { GoogleToken, LOGIN_HINT } from "./token.ts";

type Env = Readonly<Record<string, string>>;

const device = "/dev/llm/vertex";
const setUpHint = "Set ANTHROPIC_VERTEX_PROJECT_ID to your project.";
/** The version of the interface: https://docs.claude.com/en/api/claude-on-vertex-ai */
const VERSION = "vertex-2023-10-16";

export function vertexDriver(env: Env): HttpDriver {
  const { ANTHROPIC_VERTEX_PROJECT_ID: project = "", CLOUD_ML_REGION: region = "" } = env;
  return new HttpDriver(vertexProfile(env, region), vertexCodec(project, region || "global"));
}

function vertexCodec(project: string, region: string): Codec {
  const publishers = `/projects/${encodeURIComponent(project)}/locations/${encodeURIComponent(region)}/publishers`;
  return {
    path: (model, isWhole) => {
      const [publisher, verb] = isClaude(model)
        ? ["anthropic", isWhole ? "rawPredict" : "streamRawPredict"]
        : ["google", generate(isWhole)];
      return `${publishers}/${publisher}/models/${encodeURIComponent(model)}:${verb}`;
    },
    body: (request, model, { maxOutputTokens }) => {
      const card = withOwn({ ...cardOf("vertex", model), id: model }, request.own);
      if (!isClaude(model)) return geminiBody(request, card, maxOutputTokens);
      return claudeBody(request, card, maxOutputTokens);
    },
    decoder: (model) => (isClaude(model) ? new ClaudeStream(failureOf) : new GeminiDecoder(model)),
    whole: (answer) => (answer.type === "message" ? eventsOfMessage(answer) : [answer]),
    refusal,
    models: {
      path: `${publishers}/google/models`,
      ids: ({ publisherModels }) =>
        objectsOf(publisherModels).map(({ name }) => stringOf(name).replace(/^.*\//, "")),
    },
  };
}

function isClaude(model: string): boolean {
  return /^claude-/.test(model);
}

function claudeBody(request: AttemptRequest, card: ModelCard, maxOutputTokens: number): string {
  return messagesBody(request, {
    before: { anthropic_version: VERSION, max_tokens: maxOutputTokens },
    after: { ...thinkingPart(request, card, maxOutputTokens), stream: request.whole !== true },
  });
}

/** Claude's own refusals are in its vendor's form, those of the platform in Google's. */
function refusal(body: Json, fallback: string): ErrorWords {
  const { type, message, status } = objectOf(body.error);
  if (status !== undefined || type === undefined) return refusalWords(body.error, fallback);
  return { type: stringOf(type), code: "", message: stringOf(message) || fallback };
}

function failureOf(event: Json): ErrorWords | undefined {
  return event.type === "error" ? refusal(event, "") : undefined;
}

function vertexProfile(env: Env, region: string): Profile {
  const token = new GoogleToken(env, device);
  const host = region === "" || region === "global" ? "" : `${region}-`;
  return {
    name: "vertex",
    baseUrlName: "VERTEX_BASE_URL",
    model: "",
    hasVendorsModels: true,
    setUpHint,
    needsKey: false,
    authorize: async ({ signal }) => {
      if (!env.ANTHROPIC_VERTEX_PROJECT_ID)
        throw notConfigured(device, "ANTHROPIC_VERTEX_PROJECT_ID is not set", setUpHint);
      return { authorization: `Bearer ${await token.get(signal)}` };
    },
    renew: () => token.forget(),
    endpoint: {
      device,
      vendor: "Vertex",
      baseUrl: findBaseUrl(env.VERTEX_BASE_URL, `https://${host}aiplatform.googleapis.com/v1`) ?? "",
      keyName: "ANTHROPIC_VERTEX_PROJECT_ID",
      secret: "",
      loginHint: LOGIN_HINT,
      unreachableHint: "Check the network, CLOUD_ML_REGION and VERTEX_BASE_URL.",
    },
  };
}
