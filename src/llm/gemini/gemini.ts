/** Google's Gemini models by generateContent (https://ai.google.dev/api/generate-content). */
import { cardOf } from "../cards.ts";
import { findBaseUrl } from "../http/base-url.ts";
import type { Codec } from "../http/codec.ts";
import { HttpDriver, type Profile } from "../http/http-driver.ts";
import { objectsOf, stringOf } from "../json.ts";
import { withOwn } from "../own-models.ts";
import { geminiBody } from "./body.ts";
import { namedByEnv } from "./env.ts";
import { GeminiDecoder } from "./events.ts";
import { refusalWords } from "./failure.ts";

type Env = Readonly<Record<string, string>>;

export function geminiDriver(env: Env): HttpDriver {
  return new HttpDriver(geminiProfile(env), geminiCodec);
}

const geminiCodec: Codec = {
  path: (model, isWhole) => `/models/${encodeURIComponent(model)}:${generate(isWhole)}`,
  body: (request, model, { maxOutputTokens }) => {
    const card = withOwn({ ...cardOf("gemini", model), id: model }, request.own);
    return geminiBody(request, card, maxOutputTokens);
  },
  decoder: (model) => new GeminiDecoder(model),
  whole: (answer) => [answer],
  refusal: ({ error }, fallback) => refusalWords(error, fallback),
  models: {
    path: "/models?pageSize=1000",
    ids: ({ models }) =>
      objectsOf(models)
        .filter(
          ({ supportedGenerationMethods: can }) => Array.isArray(can) && can.includes("generateContent"),
        )
        .map(({ name }) => stringOf(name).replace(/^models\//, "")),
  },
};

/** The verb of the vendor's interface. */
export function generate(isWhole: boolean): string {
  return isWhole ? "generateContent" : "streamGenerateContent?alt=sse";
}

function geminiProfile(env: Env): Profile {
  const { GEMINI_API_KEY: own = "", GOOGLE_API_KEY: shared = "" } = env;
  return {
    name: "gemini",
    baseUrlName: "GEMINI_BASE_URL",
    model: "",
    named: (model) => namedByEnv(env, model),
    hasVendorsModels: true,
    setUpHint: "Run `crux auth login gemini`, or set GEMINI_API_KEY to your API key.",
    keyHeader: "x-goog-api-key",
    endpoint: {
      device: "/dev/llm/gemini",
      vendor: "Gemini",
      baseUrl: findBaseUrl(env.GEMINI_BASE_URL, "https://generativelanguage.googleapis.com/v1beta") ?? "",
      keyName: own === "" && shared !== "" ? "GOOGLE_API_KEY" : "GEMINI_API_KEY",
      secret: own === "" ? shared : own,
      unreachableHint: "Check the network and GEMINI_BASE_URL.",
    },
  };
}
