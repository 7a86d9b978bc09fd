/**
 * What the Messages API refuses with 400, in its wording. Each check yields the problems it finds, in order;
 * the first one is the answer, so nothing after it is looked at.
 * https://docs.claude.com/en/api/messages
 */
import { type ApiError, apiError, invalidRequest } from "../error.ts";
import { isObject, type JsonObject } from "../json.ts";
import type { Limits } from "../limits.ts";
import { estimateTokens } from "../message.ts";
import type { ModelRequest } from "../request.ts";
import { markerProblems } from "./prompt-cache.ts";
import { messageProblems } from "./validate-messages.ts";
import { thinkingProblems } from "./validate-thinking.ts";
import { toolProblems } from "./validate-tools.ts";

const maxCacheMarkers = 4;

/** `isCount` is the count_tokens endpoint, which needs no `max_tokens`. */
export function refuseAnthropic(
  request: ModelRequest,
  limits: Limits,
  isCount: boolean,
): ApiError | undefined {
  if (request.headers["anthropic-version"] === undefined) {
    return invalidRequest("anthropic-version: header is required");
  }
  const [problem] = problems(request, limits, isCount);
  if (problem !== undefined) return invalidRequest(problem);
  if (limits.models !== undefined && !limits.models.has(request.model)) {
    return apiError(404, { message: `model: ${request.model}` });
  }
  const tokens = estimateTokens(request.rawBody.length);
  if (isCount || tokens <= limits.contextWindowTokens) return undefined;
  return invalidRequest(`prompt is too long: ${tokens} tokens > ${limits.contextWindowTokens} maximum`);
}

function* problems(request: ModelRequest, limits: Limits, isCount: boolean): Generator<string> {
  const { body } = request;
  if (typeof body.model !== "string" || body.model === "") yield "model: Field required";
  if (!isCount) yield* outputProblems(body, limits);
  yield* systemProblems(body.system);
  yield* toolProblems(body);
  yield* messageProblems(body, limits);
  const markers = countMarkers([body.tools, body.system, body.messages]);
  if (markers > maxCacheMarkers) {
    yield `A maximum of ${maxCacheMarkers} blocks with cache_control may be provided. Found ${markers}.`;
  }
  yield* markerProblems(body);
}

function* outputProblems(body: JsonObject, limits: Limits): Generator<string> {
  const { max_tokens: maxTokens, temperature } = body;
  if (maxTokens === undefined) yield "max_tokens: Field required";
  if (typeof maxTokens !== "number" || !Number.isInteger(maxTokens)) {
    yield "max_tokens: Input should be a valid integer";
    return;
  }
  if (maxTokens < 1) yield "max_tokens: Input should be greater than or equal to 1";
  if (maxTokens > limits.maxOutputTokens) {
    yield `max_tokens: ${maxTokens} > ${limits.maxOutputTokens}, which is the maximum allowed number of output tokens for ${String(body.model)}`;
  }
  if (body.stream !== undefined && typeof body.stream !== "boolean") {
    yield "stream: Input should be a valid boolean";
  }
  if (
    temperature !== undefined &&
    !(typeof temperature === "number" && temperature >= 0 && temperature <= 1)
  ) {
    yield "temperature: range: 0..1";
  }
  yield* thinkingProblems(body, maxTokens);
}

function* systemProblems(system: unknown): Generator<string> {
  if (system === undefined || typeof system === "string") return;
  if (!Array.isArray(system)) {
    yield "system: Input should be a valid string or list";
    return;
  }
  for (const [at, block] of system.entries()) {
    if (!isObject(block) || block.type !== "text") yield `system.${at}.type: Input should be 'text'`;
    else if (typeof block.text !== "string") yield `system.${at}.text: Field required`;
    else if (block.text === "") yield "system: text content blocks must be non-empty";
  }
}

function countMarkers(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + countMarkers(item), 0);
  if (!isObject(value)) return 0;
  const own = isObject(value.cache_control) ? 1 : 0;
  return own + countMarkers(value.content);
}
