/** Which drivers are set up, by the environment of a request and what answers on this machine. */

import { findOnPath } from "../../lib/program-file.ts";
import { hasAwsCredentials } from "../bedrock/env.ts";
import { DRIVERS, type DriverName } from "../names.ts";
import { findOllamaOrigin } from "../ollama/env.ts";

type Env = Readonly<Record<string, string>>;

/** What a user does to set up each driver. */
export const setUp: Readonly<Record<DriverName, string>> = {
  anthropic: "Run `crux auth login anthropic`, or set ANTHROPIC_API_KEY.",
  openai:
    "Run `crux auth login openai`, or set OPENAI_API_KEY, and OPENAI_BASE_URL for another server than OpenAI's.",
  gemini: "Run `crux auth login gemini`, or set GEMINI_API_KEY.",
  xai: "Run `crux auth login xai`, or set XAI_API_KEY.",
  claude: "npm install -g @anthropic-ai/claude-code, then run `claude` and log in.",
  bedrock: "Set AWS_REGION, and AWS_BEARER_TOKEN_BEDROCK, AWS_PROFILE or AWS_ACCESS_KEY_ID with its secret.",
  vertex: "Set ANTHROPIC_VERTEX_PROJECT_ID, and run `gcloud auth application-default login`.",
  vllm: "Set VLLM_BASE_URL to where vLLM runs, such as http://127.0.0.1:8000/v1.",
  ollama: "Start Ollama with `ollama serve`, or set OLLAMA_HOST to where it runs.",
  interpreter: "",
  script: "",
};

export interface Probing {
  /** Whether Ollama answers at `origin`. Called only when the choice comes to Ollama. */
  readonly probeOllama?: (origin: string, signal: AbortSignal) => Promise<boolean>;
  /** A clock in milliseconds, for the age of a probe. */
  readonly now?: () => number;
  /** Whether a program of the user prints the key of a driver. Absent: none does. */
  readonly helps?: (driver: DriverName) => boolean;
}

export class DriverFinder {
  readonly #options: Probing;
  #probe: { readonly origin: string; readonly at: number; readonly answer: Promise<boolean> } | undefined;

  constructor(options: Probing) {
    this.#options = options;
  }

  /** The first configured driver; never the interpreter or a script, which are the last resort. */
  async first(env: Env, signal: AbortSignal): Promise<DriverName | undefined> {
    for (const name of DRIVERS)
      if (
        (mayBeFirst(name, env) || this.#options.helps?.(name) === true) &&
        (await this.isSetUp(name, env, signal))
      )
        return name;
    return undefined;
  }

  async isSetUp(name: DriverName, env: Env, signal: AbortSignal): Promise<boolean> {
    if (this.#options.helps?.(name) === true && name !== "vllm") return true;
    switch (name) {
      case "anthropic":
        return Boolean(env.ANTHROPIC_API_KEY || env.ANTHROPIC_AUTH_TOKEN);
      case "openai":
        return Boolean(env.OPENAI_API_KEY);
      case "gemini":
        return Boolean(env.GEMINI_API_KEY || env.GOOGLE_API_KEY);
      case "xai":
        return Boolean(env.XAI_API_KEY);
      case "claude":
        return findOnPath("claude", env.PATH) !== undefined;
      case "bedrock":
        return hasAwsCredentials(env);
      case "vertex":
        return Boolean(env.ANTHROPIC_VERTEX_PROJECT_ID);
      case "vllm":
        return Boolean(env.VLLM_BASE_URL);
      case "ollama":
        return this.#ollamaAnswers(env, signal);
      case "interpreter":
      case "script":
        return true;
    }
  }

  /**
   * Whether Ollama answers. All callers share one probe for a while, so it does not end with its first caller's signal.
   */
  #ollamaAnswers(env: Env, signal: AbortSignal): Promise<boolean> {
    const { probeOllama = probe, now = () => performance.now() } = this.#options;
    const origin = findOllamaOrigin(env.OLLAMA_HOST);
    if (origin === undefined) return Promise.resolve(false);
    signal.throwIfAborted();
    const last = this.#probe;
    if (last !== undefined && last.origin === origin && now() - last.at < PROBE_KEPT_MS) return last.answer;
    const answer = probeOllama(origin, AbortSignal.timeout(PROBE_MS));
    this.#probe = { origin, at: now(), answer };
    return answer;
  }
}

/** GOOGLE_API_KEY may be a key for maps, as AWS's keys are for much else: they are used for a model that is asked for. */
function mayBeFirst(name: DriverName, env: Env): boolean {
  if (name === "gemini") return Boolean(env.GEMINI_API_KEY);
  if (name === "bedrock") return Boolean(env.AWS_BEARER_TOKEN_BEDROCK);
  return name !== "interpreter" && name !== "script";
}

/** Where nothing listens the answer comes at once; a server that is loading a model may be slow. */
const PROBE_MS = 2_000;
const PROBE_KEPT_MS = 10_000;

async function probe(origin: string, signal: AbortSignal): Promise<boolean> {
  try {
    const response = await fetch(`${origin}/api/version`, { signal, redirect: "manual" });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}
