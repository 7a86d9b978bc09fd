/** What Ollama refuses, in its wording, and what it says of a model. A prompt that is too long it does not refuse. */
import { type ApiError, apiError, invalidRequest } from "../error.ts";
import { isObject, type JsonObject, objectsOf } from "../json.ts";
import type { Limits } from "../limits.ts";
import type { ModelRequest } from "../request.ts";

const roles = new Set(["system", "user", "assistant", "tool"]);

export function refuseOllama({ body, model }: ModelRequest, limits: Limits): ApiError | undefined {
  if (model === "") return invalidRequest("model is required");
  if (limits.models !== undefined && !limits.models.has(model)) return notFound(model);
  const [problem] = problems(body, model, limits.capabilities);
  return problem === undefined ? undefined : invalidRequest(problem);
}

export function notFound(model: string): ApiError {
  return apiError(404, { message: `model '${model}' not found` });
}

/** The answer of /api/show. */
export function describeOllama({ capabilities, contextWindowTokens }: Limits): object {
  return {
    details: { format: "gguf", family: "llama" },
    model_info: {
      "general.architecture": "llama",
      "llama.context_length": Math.min(contextWindowTokens, 131_072),
    },
    capabilities,
  };
}

function* problems(body: JsonObject, model: string, can: readonly string[]): Generator<string> {
  const { think, tools } = body;
  if (objectsOf(tools).length > 0 && !can.includes("tools"))
    yield `registry.ollama.ai/library/${model} does not support tools`;
  if (think !== undefined && think !== false && !can.includes("thinking"))
    yield `"${model}" does not support thinking`;
  if (think !== undefined && typeof think !== "boolean" && !/^(low|medium|high)$/.test(String(think)))
    yield 'think must be a boolean or string ("high", "medium", "low", true, or false)';
  for (const message of objectsOf(body.messages)) {
    if (!roles.has(String(message.role))) yield `invalid role: ${String(message.role)}`;
    if (typeof message.content !== "string")
      yield "json: cannot unmarshal array into Go struct field ChatRequest.messages of type string";
    for (const call of objectsOf(message.tool_calls))
      if (!isObject(call.function) || !isObject(call.function.arguments))
        yield "json: cannot unmarshal string into Go struct field .arguments of type api.ToolCallFunctionArguments";
  }
}
