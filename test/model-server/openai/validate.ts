/**
 * What Chat Completions refuses with 400, in its wording: the pairing of `tool_calls` and `tool` messages above all.
 * https://platform.openai.com/docs/api-reference/chat
 */
import { type ApiError, apiError, invalidRequest } from "../error.ts";
import { isObject, type JsonObject, objectsOf } from "../json.ts";
import type { Limits } from "../limits.ts";
import { estimateTokens } from "../message.ts";
import type { ModelRequest } from "../request.ts";

const roles = new Set(["system", "developer", "user", "assistant", "tool", "function"]);
const namePattern = /^[a-zA-Z0-9_-]+$/;

export function refuseOpenai(request: ModelRequest, limits: Limits): ApiError | undefined {
  const [problem] = problems(request.body);
  if (problem !== undefined) return problem;
  if (limits.models !== undefined && !limits.models.has(request.model)) {
    const message = `The model \`${request.model}\` does not exist or you do not have access to it.`;
    return apiError(404, { message, code: "model_not_found" });
  }
  const tokens = estimateTokens(request.rawBody.length);
  const window = limits.contextWindowTokens;
  const asked = limits.countsOutput ? Number(request.body.max_tokens ?? 0) : 0;
  if (tokens + asked <= window) return undefined;
  if (limits.countsOutput)
    return invalidRequest(
      `This model's maximum context length is ${window} tokens. However, you requested ${tokens + asked} tokens (${tokens} in the messages, ${asked} in the completion). Please reduce the length of the messages or completion.`,
    );
  return invalidRequest(
    `This model's maximum context length is ${limits.contextWindowTokens} tokens. However, your messages resulted in ${tokens} tokens. Please reduce the length of the messages.`,
    { code: "context_length_exceeded", param: "messages" },
  );
}

function* problems(body: JsonObject): Generator<ApiError> {
  if (typeof body.model !== "string" || body.model === "") {
    yield invalidRequest("you must provide a model parameter");
  }
  if (body.messages === undefined) {
    yield wrong("messages", "missing_required_parameter", "Missing required parameter: 'messages'.");
  }
  if (!Array.isArray(body.messages)) {
    yield wrong("messages", "invalid_type", "Invalid type for 'messages': expected an array of objects.");
    return;
  }
  if (body.messages.length === 0) yield emptyArray("messages");
  if (body.stream_options !== undefined && body.stream_options !== null && body.stream !== true) {
    yield wrong(
      "stream_options",
      null,
      "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
    );
  }
  yield* toolProblems(body);
  const messages = objectsOf(body.messages);
  for (const [at, message] of messages.entries()) yield* messageProblems(message, at);
  yield* pairingProblems(messages);
}

function* toolProblems(body: JsonObject): Generator<ApiError> {
  const { tools } = body;
  if (tools === undefined) {
    if (body.tool_choice !== undefined) {
      yield wrong("tool_choice", null, "'tool_choice' is only allowed when 'tools' are specified.");
    }
    return;
  }
  if (!Array.isArray(tools)) {
    yield wrong("tools", "invalid_type", "Invalid type for 'tools': expected an array of objects.");
    return;
  }
  if (tools.length === 0) yield emptyArray("tools");
  for (const [at, tool] of tools.entries()) yield* functionProblems(tool, `tools[${at}]`);
}

function* functionProblems(tool: unknown, where: string): Generator<ApiError> {
  if (!isObject(tool) || tool.type === undefined) {
    yield wrong(
      `${where}.type`,
      "missing_required_parameter",
      `Missing required parameter: '${where}.type'.`,
    );
    return;
  }
  if (tool.type !== "function") return;
  const name = isObject(tool.function) ? tool.function.name : undefined;
  const parameters = isObject(tool.function) ? tool.function.parameters : undefined;
  const at = `${where}.function`;
  if (name === undefined) {
    yield wrong(`${at}.name`, "missing_required_parameter", `Missing required parameter: '${at}.name'.`);
  } else if (typeof name !== "string" || !namePattern.test(name)) {
    const rule = `Expected a string that matches the pattern '${namePattern.source}'.`;
    yield wrong(
      `${at}.name`,
      "invalid_value",
      `Invalid '${at}.name': string does not match pattern. ${rule}`,
    );
  } else if (name.length > 64) {
    yield wrong(`${at}.name`, "string_above_max_length", `Invalid '${at}.name': string too long.`);
  } else if (parameters !== undefined && !(isObject(parameters) && parameters.type === "object")) {
    const text = `Invalid schema for function '${name}': schema must be a JSON Schema of 'type: "object"'.`;
    yield wrong(`${at}.parameters`, "invalid_function_parameters", text);
  }
}

function* messageProblems(message: JsonObject, at: number): Generator<ApiError> {
  const where = `messages[${at}]`;
  if (!roles.has(String(message.role))) {
    yield wrong(`${where}.role`, "invalid_value", `Invalid value: '${String(message.role)}'.`);
  }
  const { content, tool_calls: calls } = message;
  const hasCalls = Array.isArray(calls) && calls.length > 0;
  if (Array.isArray(calls) && calls.length === 0) yield emptyArray(`${where}.tool_calls`);
  const mayBeEmpty = message.role === "assistant" && (hasCalls || message.refusal || message.audio);
  if ((content === undefined || content === null) && !mayBeEmpty) {
    yield wrong(
      `messages.[${at}].content`,
      null,
      "Invalid value for 'content': expected a string, got null.",
    );
  }
  if (Array.isArray(content) && content.length === 0) yield emptyArray(`${where}.content`);
  for (const [index, call] of objectsOf(calls).entries()) {
    yield* callProblems(call, `${where}.tool_calls[${index}]`);
  }
}

function* callProblems(call: JsonObject, where: string): Generator<ApiError> {
  if (typeof call.id !== "string" || call.id === "") {
    yield wrong(`${where}.id`, "missing_required_parameter", `Missing required parameter: '${where}.id'.`);
  }
  if (call.type !== "function") return;
  const fn = isObject(call.function) ? call.function : {};
  if (typeof fn.name !== "string") {
    const path = `${where}.function.name`;
    yield wrong(path, "missing_required_parameter", `Missing required parameter: '${path}'.`);
  }
  if (typeof fn.arguments !== "string") {
    const path = `${where}.function.arguments`;
    yield wrong(
      path,
      "invalid_type",
      `Invalid type for '${path}': expected a string, but got an object instead.`,
    );
  }
}

/** `open` are the calls of the last assistant message that still lack their answer. */
function* pairingProblems(messages: readonly JsonObject[]): Generator<ApiError> {
  let open = new Set<string>();
  for (const [at, message] of messages.entries()) {
    if (message.role === "tool") {
      if (!open.delete(String(message.tool_call_id))) {
        const text =
          "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";
        yield wrong(`messages.[${at}].role`, null, `Invalid parameter: ${text}`);
      }
      continue;
    }
    if (open.size > 0) yield unanswered(open, at);
    open = new Set(objectsOf(message.tool_calls).map((call) => String(call.id)));
  }
  if (open.size > 0) yield unanswered(open, messages.length);
}

function unanswered(open: ReadonlySet<string>, at: number): ApiError {
  const ids = [...open].join(", ");
  const rule =
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.";
  return wrong(
    `messages.[${at}].role`,
    null,
    `${rule} The following tool_call_ids did not have response messages: ${ids}`,
  );
}

function emptyArray(path: string): ApiError {
  const text = `Invalid '${path}': empty array. Expected an array with minimum length 1, but got an empty array instead.`;
  return wrong(path, "empty_array", text);
}

function wrong(param: string, code: string | null, message: string): ApiError {
  return invalidRequest(message, { param, code });
}
