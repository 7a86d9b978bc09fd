/**
 * Ollama by its own chat (https://docs.ollama.com/api/chat), which takes the size of the context. A prompt over it is cut by the
 * server without a word, so such a request is refused here.
 */
import { LlmError } from "../../abi/llm-error.ts";
import { cardOf } from "../cards.ts";
import type { AttemptRequest } from "../driver.ts";
import { estimateInput } from "../estimate.ts";
import type { Ask, Codec, Limits, ModelFacts } from "../http/codec.ts";
import { HttpDriver, type Profile } from "../http/http-driver.ts";
import { readLines } from "../http/sse.ts";
import { numberOf, objectOf, objectsOf, stringOf } from "../json.ts";
import { withOwn } from "../own-models.ts";
import { ollamaBody } from "./body.ts";
import { findOllamaOrigin } from "./env.ts";
import { OllamaDecoder } from "./events.ts";

const device = "/dev/llm/ollama";

export function ollamaDriver(env: Readonly<Record<string, string>>): HttpDriver {
  return new HttpDriver(ollamaProfile(env), ollamaCodec);
}

const ollamaCodec: Codec = {
  path: () => "/api/chat",
  body: (request, model, limits) => {
    checkTools(request, model, limits.facts);
    const room = roomOf(request, model, limits);
    return JSON.stringify(ollamaBody(request, model, { ...room, thinks: limits.facts.thinks === true }));
  },
  decoder: () => new OllamaDecoder(),
  whole: (answer) => [answer],
  frames: readLines,
  facts: shownFacts,
  refusal: ({ error }, fallback) => {
    const message = stringOf(error) || fallback;
    // a 500 as any other, but there will be no more memory the next time
    const kind = /requires more system memory/.test(message) ? "invalid" : undefined;
    return { type: "", code: "", message, kind };
  },
  remark: (request, { input_tokens: read }) => {
    const sent = estimateInput(request);
    if (read === 0 || read * 2 >= sent) return undefined;
    return `Ollama read ${read} tokens of a prompt of about ${sent}: it may have cut it. Set ollama.numCtx to a larger context, or OLLAMA_CONTEXT_LENGTH of the server.`;
  },
  models: {
    path: "/api/tags",
    ids: ({ models }) => objectsOf(models).map(({ name }) => stringOf(name)),
  },
};

/** Older servers name no abilities. */
async function shownFacts(ask: Ask, model: string): Promise<ModelFacts> {
  const { capabilities, model_info } = await ask("/api/show", JSON.stringify({ model }));
  const info = objectOf(model_info);
  const window = numberOf(info[`${stringOf(info["general.architecture"])}.context_length`]);
  const can = Array.isArray(capabilities) ? capabilities : undefined;
  return {
    ...(window > 0 ? { window } : {}),
    ...(can === undefined ? {} : { hasTools: can.includes("tools"), thinks: can.includes("thinking") }),
  };
}

function checkTools({ tools }: AttemptRequest, model: string, { hasTools }: ModelFacts): void {
  if (tools.length === 0 || hasTools !== false) return;
  const message = `${model} cannot call tools, and the agent has ${tools.length}`;
  const hint = "Name a model with tools: `ollama show <model>` lists what a model can do.";
  throw new LlmError({ kind: "invalid", device, message, hint });
}

/** The context to ask for, which is the same for every request, since another one would load the model anew. */
function roomOf(request: AttemptRequest, model: string, { maxOutputTokens, facts }: Limits) {
  const { maxInputTokens } = withOwn(cardOf("ollama", model), request.own);
  const context = Math.min(maxInputTokens, facts.window ?? maxInputTokens);
  const input = estimateInput(request);
  if (input < context) return { context, maxOutputTokens: Math.min(maxOutputTokens, context - input) };
  const message = `the prompt for ${model} is too long: about ${input} tokens > ${context} of its context`;
  const hint = "Set ollama.numCtx to a larger context, if the model and the memory have it.";
  throw new LlmError({ kind: "prompt_too_long", device, message, hint });
}

function ollamaProfile(env: Readonly<Record<string, string>>): Profile {
  return {
    name: "ollama",
    baseUrlName: "OLLAMA_HOST",
    model: env.OLLAMA_MODEL ?? "",
    hasVendorsModels: false,
    needsKey: false,
    setUpHint: "Fetch a model with `ollama pull <model>`, then name it with --model ollama/<model>.",
    endpoint: {
      device,
      vendor: "Ollama",
      baseUrl: findOllamaOrigin(env.OLLAMA_HOST) ?? "",
      keyName: "OLLAMA_HOST",
      secret: "",
      loginHint: "Run `ollama signin` where the server runs: models of its cloud need an account.",
      unreachableHint: "Start Ollama with `ollama serve`, or set OLLAMA_HOST to where it runs.",
    },
  };
}
