/**
 * What generateContent refuses with 400, in its wording: fields and schema keywords that it does not know, calls without
 * their responses, calls of newer models without the signature they came with.
 */
import { type ApiError, apiError, invalidRequest } from "../error.ts";
import { isObject, type JsonObject, objectsOf, stringOf } from "../json.ts";
import type { Limits } from "../limits.ts";
import { estimateTokens } from "../message.ts";
import type { ModelRequest } from "../request.ts";
import { isStrict, signCall } from "./encode.ts";
import { schemaProblems, unknownNames } from "./validate-schema.ts";

const parameters = new Set([
  ...["contents", "tools", "toolConfig", "safetySettings", "systemInstruction", "generationConfig"],
  ...["cachedContent"],
]);
const configFields = new Set([
  ...["maxOutputTokens", "temperature", "topP", "topK", "stopSequences", "thinkingConfig", "candidateCount"],
  ...["responseMimeType", "responseSchema", "responseJsonSchema", "seed"],
]);
const thinkingFields = new Set(["includeThoughts", "thinkingBudget", "thinkingLevel"]);
const partKinds = ["text", "inlineData", "fileData", "functionCall", "functionResponse"];
const namePattern = /^[a-zA-Z_][\w.:-]{0,63}$/;
/** Documented for a history that another model made. */
const bypasses = new Set(["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"]);

export function refuseGemini(request: ModelRequest, limits: Limits): ApiError | undefined {
  const { model, rawBody } = request;
  if (limits.models !== undefined && !limits.models.has(model)) {
    const message = `models/${model} is not found for API version v1beta, or is not supported for generateContent.`;
    return apiError(404, { message });
  }
  const [problem] = problems(request, limits);
  if (problem !== undefined) return invalidRequest(problem);
  const tokens = estimateTokens(rawBody.length);
  if (tokens <= limits.contextWindowTokens) return undefined;
  return invalidRequest(
    `The input token count (${tokens}) exceeds the maximum number of tokens allowed (${limits.contextWindowTokens}).`,
  );
}

function* problems({ body, model }: ModelRequest, limits: Limits): Generator<string> {
  yield* unknownNames(body, parameters, "");
  yield* configProblems(body.generationConfig, model);
  for (const [at, tool] of objectsOf(body.tools).entries())
    for (const [index, declared] of objectsOf(tool.functionDeclarations).entries())
      yield* functionProblems(declared, `tools[${at}].function_declarations[${index}]`);
  const contents = objectsOf(body.contents);
  if (contents.length === 0) yield "* GenerateContentRequest.contents: contents is not specified";
  for (const [at, content] of contents.entries()) yield* contentProblems(content, at);
  const turns = turnsOf(contents);
  yield* pairingProblems(turns, model);
  if (isStrict(model)) yield* signatureProblems(turns, model, limits);
}

/** Contents of one role in a row are one turn. */
function turnsOf(contents: readonly JsonObject[]): JsonObject[] {
  const turns: { role: unknown; parts: JsonObject[] }[] = [];
  for (const { role, parts } of contents) {
    const last = turns.at(-1);
    if (last !== undefined && last.role === role) last.parts.push(...objectsOf(parts));
    else turns.push({ role, parts: [...objectsOf(parts)] });
  }
  return turns;
}

function* configProblems(config: unknown, model: string): Generator<string> {
  if (!isObject(config)) return;
  yield* unknownNames(config, configFields, "generation_config");
  const { temperature, thinkingConfig } = config;
  if (typeof temperature === "number" && (temperature < 0 || temperature > 2))
    yield "* GenerateContentRequest.generation_config.temperature: temperature must be in the range [0.0, 2.0].";
  if (!isObject(thinkingConfig)) return;
  yield* unknownNames(thinkingConfig, thinkingFields, "generation_config.thinking_config");
  const { thinkingBudget, thinkingLevel } = thinkingConfig;
  if (thinkingBudget !== undefined && thinkingLevel !== undefined)
    yield "You can only set only one of thinking budget and thinking level.";
  if (thinkingLevel !== undefined && !/^(minimal|low|medium|high)$/i.test(stringOf(thinkingLevel)))
    yield `Invalid value at 'generation_config.thinking_config.thinking_level' (TYPE_ENUM), "${String(thinkingLevel)}"`;
  if (thinkingLevel !== undefined && !isStrict(model))
    yield "Thinking level is not supported for this model.";
  if (thinkingBudget !== undefined && /^gemini-[4-9]/.test(model))
    yield "Thinking budget is not supported for this model. Please use thinking level.";
}

function* functionProblems(declared: JsonObject, where: string): Generator<string> {
  const { name, parameters: schema } = declared;
  if (!namePattern.test(stringOf(name)))
    yield `* GenerateContentRequest.${where}.name: Invalid function name. Must start with a letter or an underscore.`;
  if (schema !== undefined) yield* schemaProblems(schema, `${where}.parameters`);
}

function* contentProblems({ role, parts }: JsonObject, at: number): Generator<string> {
  if (role !== "user" && role !== "model") yield "Please use a valid role: user, model.";
  const where = `* GenerateContentRequest.contents[${at}].parts`;
  if (objectsOf(parts).length === 0) yield `${where}: contents.parts must not be empty.`;
  for (const [index, part] of objectsOf(parts).entries()) {
    const kinds = partKinds.filter((kind) => part[kind] !== undefined);
    if (kinds.length !== 1)
      yield `${where}[${index}].data: required oneof field 'data' must have one initialized field`;
    const { name } = (part.functionCall ?? part.functionResponse ?? { name: "x" }) as JsonObject;
    if (!namePattern.test(stringOf(name))) yield `${where}[${index}]: function name is invalid or empty.`;
  }
}

/** `open`: the calls of the last turn, which the next one must answer, one part each. */
function* pairingProblems(contents: readonly JsonObject[], model: string): Generator<string> {
  let open: readonly JsonObject[] = [];
  let before: unknown;
  for (const { role, parts } of contents) {
    const results = partsOf(parts, "functionResponse");
    if (results.length !== open.length)
      yield "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.";
    for (const [at, { name, id }] of results.entries()) {
      if (name !== open[at]?.name)
        yield `Function response ${String(name)} does not match its function call.`;
      if (isStrict(model) && id !== open[at]?.id)
        yield `The id of function response ${String(name)} does not match its function call.`;
    }
    open = role === "model" ? partsOf(parts, "functionCall") : [];
    if (open.length > 0 && before !== "user")
      yield "Please ensure that function call turn comes immediately after a user turn or after a function response turn.";
    before = role;
  }
  if (open.length > 0) yield "Please ensure that function call turn is followed by a function response turn.";
}

/** In the current turn, which begins with the last thing the user said, the first call of each step has its signature. */
function* signatureProblems(
  contents: readonly JsonObject[],
  model: string,
  limits: Limits,
): Generator<string> {
  const start = contents.findLastIndex(
    ({ role, parts }) => role === "user" && partsOf(parts, "functionResponse").length === 0,
  );
  for (const [at, { role, parts }] of contents.entries()) {
    if (role !== "model" || at < start) continue;
    const index = objectsOf(parts).findIndex(({ functionCall }) => functionCall !== undefined);
    if (index < 0) continue;
    const part = objectsOf(parts)[index]!;
    const { name, args } = part.functionCall as JsonObject;
    const signature = stringOf(part.thoughtSignature);
    if (signature === "")
      yield `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly. Function call \`${String(name)}\`, position ${at}.`;
    else if (
      limits.verifySignatures &&
      !bypasses.has(signature) &&
      signature !== signCall(model, stringOf(name), args)
    )
      yield "Corrupted thought signature.";
  }
}

function partsOf(parts: unknown, kind: "functionCall" | "functionResponse"): JsonObject[] {
  return objectsOf(parts).flatMap((part) => (isObject(part[kind]) ? [part[kind]] : []));
}
