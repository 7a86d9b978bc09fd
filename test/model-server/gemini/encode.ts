/**
 * The wire format of generateContent: each chunk is a whole response with its newest parts. A call comes in one piece, with
 * the signature of the thinking before it on the first of a reply; without calls, the signature is on the last part.
 * https://ai.google.dev/api/generate-content
 */
import { sign } from "../identity.ts";
import { findObject, type JsonObject } from "../json.ts";
import { type Frame, fragments, type Message } from "../message.ts";

const unknownFields = { xFutureField: { nested: [1, 2, 3] } };

const finishReasons: Readonly<Record<string, string>> = {
  end_turn: "STOP",
  stop_sequence: "STOP",
  pause_turn: "STOP",
  tool_use: "STOP",
  max_tokens: "MAX_TOKENS",
  model_context_window_exceeded: "MAX_TOKENS",
  refusal: "SAFETY",
};

interface Piece {
  readonly part: JsonObject;
  readonly endsBlock: boolean;
}

export function* streamGemini(message: Message): Generator<Frame> {
  const { isNoisy } = message.plan;
  for (const { part, endsBlock } of pieces(message, message.plan.fragmentChars)) {
    if (isNoisy) yield { text: ": keep-alive\r\n\r\n", isCounted: false, endsBlock: false };
    yield frame(response(message, [part], undefined), endsBlock);
  }
  yield frame(response(message, [lastPart(message)], finishReasonOf(message)), false);
}

export function completeGemini(message: Message): object {
  const parts = [...pieces(message, Number.MAX_SAFE_INTEGER)].map(({ part }) => part);
  return response(message, [...parts, lastPart(message)], finishReasonOf(message));
}

function* pieces(message: Message, size: number | undefined): Generator<Piece> {
  let hasCall = false;
  for (const block of message.blocks) {
    if (block.type === "text") yield* cut(block.text, size, (text) => ({ text }));
    else if (block.type === "thinking") yield* cut(block.thinking, size, (text) => ({ text, thought: true }));
    else if (block.type === "tool_use") {
      const args = argsOf(block.json);
      // what is no object the vendor does not pass on: the reply ends there
      if (args === undefined) return;
      const { name } = block;
      const call = isStrict(message.model) ? { id: block.id, name, args } : { name, args };
      const signature = hasCall ? {} : { thoughtSignature: signCall(message.model, name, args) };
      hasCall = true;
      yield { part: { functionCall: call, ...signature }, endsBlock: true };
    }
  }
}

function* cut(
  text: string,
  size: number | undefined,
  partOf: (text: string) => JsonObject,
): Generator<Piece> {
  const parts = fragments(text, size);
  for (const [at, piece] of parts.entries())
    yield { part: partOf(piece), endsBlock: at === parts.length - 1 };
}

/** Newer models number their calls and check signatures. */
export function isStrict(model: string): boolean {
  return /^gemini-([3-9]|\d\d)/.test(model);
}

function argsOf(json: string): JsonObject | undefined {
  return json.trim() === "" ? {} : findObject(json);
}

/** Bound to the model and to the call that it came with. */
export function signCall(model: string, name: string, args: unknown): string {
  return sign(model, `${name}${JSON.stringify(args)}`);
}

function lastPart({ blocks, model }: Message): JsonObject {
  const hasCall = blocks.some(({ type }) => type === "tool_use");
  return hasCall ? { text: "" } : { text: "", thoughtSignature: sign(model, "the end") };
}

function finishReasonOf({ blocks, stopReason }: Message): string {
  const isMalformed = blocks.some((block) => block.type === "tool_use" && argsOf(block.json) === undefined);
  return isMalformed ? "MALFORMED_FUNCTION_CALL" : (finishReasons[stopReason] ?? stopReason);
}

function response(message: Message, parts: readonly JsonObject[], finishReason: string | undefined): object {
  const candidate = { content: { parts, role: "model" }, index: 0 };
  return {
    candidates: [finishReason === undefined ? candidate : { ...candidate, finishReason }],
    usageMetadata: usageOf(message),
    modelVersion: message.model,
    responseId: message.id,
    ...(message.plan.isNoisy ? unknownFields : {}),
  };
}

/** `promptTokenCount` includes cached tokens here; thoughts are counted apart from what they led to. */
function usageOf({ usage }: Message): object {
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite;
  const candidates = usage.output - usage.reasoning;
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: candidates,
    totalTokenCount: prompt + usage.output,
    promptTokensDetails: [{ modality: "TEXT", tokenCount: prompt }],
    ...(usage.cacheRead === 0 ? {} : { cachedContentTokenCount: usage.cacheRead }),
    ...(usage.reasoning === 0 ? {} : { thoughtsTokenCount: usage.reasoning }),
  };
}

/** The vendor ends its lines with CRLF. */
function frame(value: object, endsBlock: boolean): Frame {
  return { text: `data: ${JSON.stringify(value)}\r\n\r\n`, isCounted: true, endsBlock };
}
