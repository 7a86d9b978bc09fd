/**
 * What the Responses interface refuses with 400, in its wording: calls without their output, reasoning that cannot be read or
 * that nothing follows. https://platform.openai.com/docs/api-reference/responses/create
 */
import { type ApiError, apiError, invalidRequest } from "../error.ts";
import { sign } from "../identity.ts";
import { isObject, type JsonObject, objectsOf, stringOf } from "../json.ts";
import type { Limits } from "../limits.ts";
import { estimateTokens } from "../message.ts";
import type { ModelRequest } from "../request.ts";
import { inputOf } from "./parse.ts";

const parameters = new Set([
  ...[
    "model",
    "input",
    "instructions",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "include",
    "reasoning",
  ],
  ...["max_output_tokens", "store", "stream", "temperature", "top_p", "prompt_cache_key", "text", "metadata"],
]);
const efforts = new Set(["none", "minimal", "low", "medium", "high", "xhigh", "max"]);
const partTypes: Readonly<Record<string, readonly string[]>> = {
  assistant: ["output_text", "refusal"],
  user: ["input_text", "input_image", "input_file"],
  system: ["input_text"],
  developer: ["input_text"],
};
const namePattern = /^[a-zA-Z0-9_-]+$/;

export function refuseResponses(request: ModelRequest, limits: Limits): ApiError | undefined {
  const [problem] = problems(request, limits);
  if (problem !== undefined) return problem;
  if (limits.models !== undefined && !limits.models.has(request.model)) {
    const message = `The requested model '${request.model}' does not exist.`;
    return apiError(404, { message, code: "model_not_found" });
  }
  const tokens = estimateTokens(request.rawBody.length);
  if (tokens <= limits.contextWindowTokens) return undefined;
  return invalidRequest(
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
    { code: "context_length_exceeded", param: "input" },
  );
}

function* problems({ body, model }: ModelRequest, limits: Limits): Generator<ApiError> {
  for (const name of Object.keys(body))
    if (!parameters.has(name)) yield wrong(name, "unknown_parameter", `Unknown parameter: '${name}'.`);
  if (model === "")
    yield wrong("model", "missing_required_parameter", "Missing required parameter: 'model'.");
  const most = body.max_output_tokens;
  if (typeof most === "number" && most < 16) {
    const text = `Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got ${most} instead.`;
    yield wrong("max_output_tokens", "integer_below_min_value", text);
  }
  const { effort } = isObject(body.reasoning) ? body.reasoning : {};
  if (effort !== undefined && effort !== null && !efforts.has(stringOf(effort)))
    yield wrong("reasoning.effort", "invalid_value", `Invalid value: '${String(effort)}'.`);
  yield* toolProblems(body);
  const items = inputOf(body.input);
  if (items.length === 0)
    yield wrong("input", "missing_required_parameter", "Missing required parameter: 'input'.");
  for (const [at, item] of items.entries()) yield* itemProblems(item, `input[${at}]`);
  yield* pairingProblems(items);
  yield* reasoningProblems(items, { model, isStored: body.store !== false, limits });
}

function* toolProblems(body: JsonObject): Generator<ApiError> {
  for (const [at, tool] of objectsOf(body.tools).entries()) {
    const where = `tools[${at}]`;
    if (tool.type !== "function") continue;
    const { name, parameters: schema } = tool;
    if (typeof name !== "string")
      yield wrong(
        `${where}.name`,
        "missing_required_parameter",
        `Missing required parameter: '${where}.name'.`,
      );
    else if (!namePattern.test(name) || name.length > 64)
      yield wrong(
        `${where}.name`,
        "invalid_value",
        `Invalid '${where}.name': string does not match pattern.`,
      );
    else if (!(isObject(schema) && schema.type === "object")) {
      const text = `Invalid schema for function '${name}': schema must be a JSON Schema of 'type: "object"'.`;
      yield wrong(`${where}.parameters`, "invalid_function_parameters", text);
    }
  }
}

function* itemProblems(item: JsonObject, where: string): Generator<ApiError> {
  if (item.type === "function_call") {
    for (const name of ["call_id", "name", "arguments"])
      if (typeof item[name] !== "string" || (item[name] === "" && name !== "arguments"))
        yield missing(`${where}.${name}`);
    if (!namePattern.test(stringOf(item.name)))
      yield wrong(
        `${where}.name`,
        "invalid_value",
        `Invalid '${where}.name': string does not match pattern.`,
      );
    if (stringOf(item.call_id).length > 64)
      yield wrong(
        `${where}.call_id`,
        "string_above_max_length",
        `Invalid '${where}.call_id': string too long.`,
      );
  } else if (item.type === "function_call_output") {
    if (item.output === undefined) yield missing(`${where}.output`);
  } else if (item.type === "reasoning") {
    if (!Array.isArray(item.summary)) yield missing(`${where}.summary`);
  } else if (item.type === undefined || item.type === "message") {
    const types = partTypes[stringOf(item.role)];
    if (types === undefined)
      yield wrong(`${where}.role`, "invalid_value", `Invalid value: '${String(item.role)}'.`);
    for (const [at, part] of objectsOf(item.content).entries())
      if (types?.includes(stringOf(part.type)) === false) {
        const known = types.map((type) => `'${type}'`).join(" and ");
        const text = `Invalid value: '${String(part.type)}'. Supported values are: ${known}.`;
        yield wrong(`${where}.content[${at}]`, "invalid_value", text);
      }
  } else yield wrong(`${where}.type`, "invalid_value", `Invalid value: '${String(item.type)}'.`);
}

/** Outputs may come in any order, but all of them before the next thing the user or the model says. */
function* pairingProblems(items: readonly JsonObject[]): Generator<ApiError> {
  const called = new Set<string>();
  const open = new Set<string>();
  for (const item of items) {
    const id = stringOf(item.call_id);
    if (item.type === "function_call") {
      called.add(id);
      open.add(id);
    } else if (item.type === "function_call_output") {
      if (!called.has(id))
        yield wrong("input", null, `No tool call found for function call output with call_id ${id}.`);
      open.delete(id);
    }
  }
  for (const id of open) yield wrong("input", null, `No tool output found for function call ${id}.`);
}

function* reasoningProblems(
  items: readonly JsonObject[],
  {
    model,
    isStored,
    limits,
  }: { readonly model: string; readonly isStored: boolean; readonly limits: Limits },
): Generator<ApiError> {
  for (const [at, item] of items.entries()) {
    if (item.type !== "reasoning") continue;
    const id = stringOf(item.id);
    const next = items[at + 1];
    const isFollowed =
      next?.type === "function_call" || next?.type === "reasoning" || next?.role === "assistant";
    if (!isFollowed) {
      const text = `Item '${id}' of type 'reasoning' was provided without its required following item.`;
      yield wrong("input", null, text);
    }
    const encrypted = stringOf(item.encrypted_content);
    if (encrypted === "" && !isStored) {
      const message = `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false.`;
      yield apiError(404, { message, code: null, param: "input" });
    }
    const summary = objectsOf(item.summary).map(({ text }) => stringOf(text));
    if (limits.verifySignatures && encrypted !== sign(model, summary.join("\n\n"))) {
      const text = `The encrypted content for item ${id} could not be verified.`;
      yield wrong(null, "invalid_encrypted_content", text);
    }
  }
}

function missing(path: string): ApiError {
  return wrong(path, "missing_required_parameter", `Missing required parameter: '${path}'.`);
}

function wrong(param: string | null, code: string | null, message: string): ApiError {
  return invalidRequest(message, { param, code });
}
