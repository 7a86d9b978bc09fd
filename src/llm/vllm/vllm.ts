/** vLLM by Chat Completions: it says how long its models' context is, and refuses an output limit that does not fit into it. */

import type { AttemptRequest } from "../driver.ts";
import { worstInput } from "../estimate.ts";
import { findBaseUrl } from "../http/base-url.ts";
import { HttpRefusal } from "../http/client.ts";
import type { Ask, Codec, Limits, ModelFacts } from "../http/codec.ts";
import { HttpDriver, type Profile } from "../http/http-driver.ts";
import { numberOf, objectsOf } from "../json.ts";
import { chatCodec } from "../openai/body.ts";

type Env = Readonly<Record<string, string>>;

export function vllmDriver(env: Env): HttpDriver {
  const profile = vllmProfile(env);
  const chat = chatCodec(profile.endpoint.baseUrl, "vllm");
  const codec: Codec = {
    ...chat,
    facts: listedFacts,
    body: (request, model, limits) => chat.body(request, model, fitting(request, limits)),
  };
  return new HttpDriver(profile, codec);
}

/** A server in between may have no list. */
async function listedFacts(ask: Ask, model: string): Promise<ModelFacts> {
  const { data } = await ask("/models").catch((error: unknown) => {
    if (error instanceof HttpRefusal && error.status === 404) return { data: [] };
    throw error;
  });
  const window = numberOf(objectsOf(data).find(({ id }) => id === model)?.max_model_len);
  return window > 0 ? { window } : {};
}

/** The output within what the prompt leaves; a prompt that is too long itself the server refuses with its count. */
function fitting(request: AttemptRequest, { maxOutputTokens, facts }: Limits): Limits {
  const room = facts.window === undefined ? maxOutputTokens : facts.window - worstInput(request);
  return { facts, maxOutputTokens: Math.max(1, Math.min(maxOutputTokens, room)) };
}

function vllmProfile(env: Env): Profile {
  return {
    name: "vllm",
    baseUrlName: "VLLM_BASE_URL",
    model: env.VLLM_MODEL ?? "",
    hasVendorsModels: false,
    needsKey: false,
    setUpHint: "Set VLLM_BASE_URL to where vLLM runs, such as http://127.0.0.1:8000/v1.",
    endpoint: {
      device: "/dev/llm/vllm",
      vendor: "vLLM",
      baseUrl: findBaseUrl(env.VLLM_BASE_URL, "http://127.0.0.1:8000/v1") ?? "",
      keyName: "VLLM_API_KEY",
      secret: env.VLLM_API_KEY ?? "",
      unreachableHint: "Start it with `vllm serve <model>`, or set VLLM_BASE_URL to where it runs.",
    },
  };
}
