/** What makes a run of `crux` be answered by the model server, and what a script for it is often made of. */

import type { DialectName, ModelRequest } from "../model-server/request.ts";
import type { Answer } from "../model-server/script.ts";
import type { ModelServer } from "../model-server/server.ts";

export const MODEL_KEY = "test-key-0123456789";
export const DIALECTS: readonly DialectName[] = ["openai", "anthropic"];

type Urls = Pick<ModelServer, "openaiBaseUrl" | "anthropicBaseUrl" | "geminiBaseUrl" | "url">;

/** The variables a person would set, and no others: which model answers follows from them. */
export function modelEnv(server: Urls, dialect: DialectName = "openai"): Record<string, string> {
  const openai = {
    OPENAI_API_KEY: MODEL_KEY,
    OPENAI_BASE_URL: server.openaiBaseUrl,
    OPENAI_MODEL: "test-model",
  };
  const envs: Readonly<Record<DialectName, Record<string, string>>> = {
    openai,
    responses: { ...openai, CRUX_OPENAI_API: "responses" },
    anthropic: { ANTHROPIC_API_KEY: MODEL_KEY, ANTHROPIC_BASE_URL: server.anthropicBaseUrl },
    bedrock: {
      AWS_BEARER_TOKEN_BEDROCK: MODEL_KEY,
      AWS_REGION: "eu-west-1",
      ANTHROPIC_BEDROCK_BASE_URL: server.anthropicBaseUrl,
    },
    gemini: { GEMINI_API_KEY: MODEL_KEY, GEMINI_BASE_URL: server.geminiBaseUrl },
    ollama: { OLLAMA_HOST: server.url, OLLAMA_MODEL: "test-model", CRUX_PROVIDER: "ollama" },
  };
  return envs[dialect];
}

/** By conversation, so that many may run at once: the n-th assistant turn gets the n-th answer, later ones the last. */
export function inTurn(...answers: readonly Exclude<Answer, (request: ModelRequest) => unknown>[]): Answer {
  return (request) => answers[Math.min(request.assistantTurns, answers.length - 1)]!;
}
