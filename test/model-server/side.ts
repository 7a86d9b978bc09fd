/** Answers that no script is asked for: model lists, token counts, refusals by path, method or key. */
import { refuseAnthropic } from "./anthropic/validate.ts";
import { type ApiError, apiError } from "./error.ts";
import { findObject, stringOf } from "./json.ts";
import type { Limits } from "./limits.ts";
import { estimateTokens } from "./message.ts";
import { describeOllama, notFound } from "./ollama/validate.ts";
import type { DialectName, HttpRequest, ModelRequest } from "./request.ts";
import { findKey } from "./route.ts";

export type SideAnswer =
  | { readonly kind: "ok"; readonly body: object }
  | { readonly kind: "error"; readonly error: ApiError };

const defaultModels = [
  "claude-opus-4-6",
  "claude-sonnet-4-6",
  "claude-haiku-4-5",
  "gpt-5.1",
  "gpt-5-mini",
] as const;
/** 2025-01-01 in both spellings. */
const createdAt = { text: "2025-01-01T00:00:00Z", seconds: 1_735_689_600 };

export function listModels(dialect: DialectName, id: string | undefined, limits: Limits): SideAnswer {
  const names = limits.models === undefined ? [...defaultModels] : [...limits.models];
  const describe = dialect === "anthropic" ? anthropicModel(limits) : openaiModel(limits);
  if (id !== undefined) {
    const name = decodeURIComponent(id);
    if (limits.models === undefined || limits.models.has(name)) return { kind: "ok", body: describe(name) };
    const message = dialect === "anthropic" ? `model: ${name}` : `The model '${name}' does not exist`;
    return { kind: "error", error: apiError(404, { message }) };
  }
  if (dialect === "ollama")
    return { kind: "ok", body: { models: names.map((name) => ({ name, model: name })) } };
  if (dialect === "gemini") return { kind: "ok", body: { models: names.map(geminiModel(limits)) } };
  const data = names.map(describe);
  if (dialect === "openai") return { kind: "ok", body: { object: "list", data } };
  const ends = { first_id: names[0] ?? null, last_id: names.at(-1) ?? null };
  return { kind: "ok", body: { data, has_more: false, ...ends } };
}

/** What Ollama says of one model. */
export function showModel({ rawBody }: HttpRequest, limits: Limits): SideAnswer {
  const model = stringOf(findObject(rawBody)?.model);
  if (limits.models?.has(model) === false) return { kind: "error", error: notFound(model) };
  return { kind: "ok", body: describeOllama(limits) };
}

export function countTokens(request: ModelRequest, limits: Limits): SideAnswer {
  const error = refuseAnthropic(request, limits, true);
  if (error !== undefined) return { kind: "error", error };
  return { kind: "ok", body: { input_tokens: estimateTokens(request.rawBody.length) } };
}

/** Refusal by key; `expected` undefined takes any key, and none. */
export function refuseKey(
  http: HttpRequest,
  expected: string | undefined,
  dialect: DialectName,
): ApiError | undefined {
  const key = findKey(http.headers);
  if (expected === undefined || key === expected) return undefined;
  if (dialect === "gemini") {
    const message =
      "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.";
    return key === undefined ? apiError(403, { message }) : apiError(401);
  }
  if (dialect !== "anthropic") {
    const missing =
      "You didn't provide an API key. You need to provide your API key in an Authorization header.";
    return key === undefined ? apiError(401, { message: missing, code: null }) : apiError(401);
  }
  if (key === undefined) return apiError(401, { message: "x-api-key header is required" });
  const isBearer = http.headers["x-api-key"] === undefined;
  return apiError(401, { message: isBearer ? "Invalid bearer token" : "invalid x-api-key" });
}

export function refusePath(http: HttpRequest, dialect: DialectName): ApiError {
  if (dialect === "anthropic") return apiError(404);
  return apiError(404, { message: `Invalid URL (${http.method} ${http.path})`, code: null });
}

export function refuseMethod(http: HttpRequest, dialect: DialectName): ApiError {
  if (dialect === "anthropic") return apiError(405);
  return apiError(405, {
    message: `Not allowed to ${http.method} on ${http.path}.`,
    code: "method_not_supported",
  });
}

function anthropicModel(limits: Limits): (id: string) => object {
  return (id) => ({
    type: "model",
    id,
    display_name: id,
    created_at: createdAt.text,
    max_input_tokens: limits.contextWindowTokens,
    max_tokens: limits.maxOutputTokens,
  });
}

function geminiModel(limits: Limits): (id: string) => object {
  return (id) => ({
    name: `models/${id}`,
    displayName: id,
    inputTokenLimit: limits.contextWindowTokens,
    outputTokenLimit: limits.maxOutputTokens,
    supportedGenerationMethods: ["generateContent", "countTokens"],
  });
}

/** With vLLM's field for the context, where there is one. */
function openaiModel({ contextWindowTokens: window }: Limits): (id: string) => object {
  const more = window === Number.MAX_SAFE_INTEGER ? {} : { max_model_len: window };
  return (id) => ({ id, object: "model", created: createdAt.seconds, owned_by: "model-server", ...more });
}
