/** The Chat Completions wire format. Thinking travels as `reasoning_content`; custom and redacted blocks have no place. */
import { isObject } from "../json.ts";
import { type Frame, fragments, type Message } from "../message.ts";
import type { ModelRequest } from "../request.ts";

/** 2025-01-01; a fixed date keeps replies of one seed identical. */
const created = 1_735_689_600;
const unknownFields = { x_future_field: { nested: [1, 2, 3] } };

const finishReasons: Readonly<Record<string, string>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  pause_turn: "stop",
  tool_use: "tool_calls",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  refusal: "content_filter",
};

export function* streamOpenai(message: Message, request: ModelRequest): Generator<Frame> {
  const options = request.body.stream_options;
  const wantsUsage = isObject(options) && options.include_usage === true;
  const extra = { ...(wantsUsage ? { usage: null } : {}), ...(message.plan.isNoisy ? unknownFields : {}) };
  for (const { delta, finishReason, endsBlock } of deltas(message)) {
    if (message.plan.isNoisy) yield { text: ": processing\n\n", isCounted: false, endsBlock: false };
    const choices = [{ index: 0, delta, logprobs: null, finish_reason: finishReason ?? null }];
    yield chunk({ ...head(message, "chat.completion.chunk"), choices, ...extra }, endsBlock ?? false);
  }
  if (wantsUsage)
    yield chunk({ ...head(message, "chat.completion.chunk"), choices: [], usage: usageOf(message) }, false);
  yield { text: "data: [DONE]\n\n", isCounted: true, endsBlock: false };
}

export function completeOpenai(message: Message): object {
  const join = (type: "text" | "thinking") =>
    message.blocks
      .flatMap((block) => (block.type !== type ? [] : [block.type === "text" ? block.text : block.thinking]))
      .join("");
  const [content, reasoning] = [join("text"), join("thinking")];
  const calls = message.blocks.filter((block) => block.type === "tool_use").map(callOf);
  const answer = {
    role: "assistant",
    content: content === "" && calls.length > 0 ? null : content,
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    refusal: null,
    annotations: [],
  };
  return {
    ...head(message, "chat.completion"),
    choices: [{ index: 0, message: answer, logprobs: null, finish_reason: finishReasonOf(message) }],
    usage: usageOf(message),
    ...(message.plan.isNoisy ? unknownFields : {}),
  };
}

interface Delta {
  readonly delta: object;
  readonly finishReason?: string;
  readonly endsBlock?: boolean;
}

/** The role comes first, each call's id and name before its arguments, and the finish reason in a chunk of its own. */
function* deltas(message: Message): Generator<Delta> {
  const size = message.plan.fragmentChars;
  const hasText = message.blocks.some((block) => block.type === "text");
  yield { delta: { role: "assistant", content: hasText ? "" : null, refusal: null } };
  let index = 0;
  for (const block of message.blocks) {
    if (block.type === "text") {
      yield* pieces(fragments(block.text, size), (piece) => ({ content: piece }));
    } else if (block.type === "thinking") {
      yield* pieces(fragments(block.thinking, size), (piece) => ({ reasoning_content: piece }));
    } else if (block.type === "tool_use") {
      const at = index++;
      const json = fragments(block.json, size);
      const opening = { id: block.id, type: "function", function: { name: block.name, arguments: "" } };
      yield { delta: { tool_calls: [{ index: at, ...opening }] }, endsBlock: json.length === 0 };
      yield* pieces(json, (piece) => ({ tool_calls: [{ index: at, function: { arguments: piece } }] }));
    }
  }
  yield { delta: {}, finishReason: finishReasonOf(message) };
}

function* pieces(parts: readonly string[], deltaOf: (piece: string) => object): Generator<Delta> {
  for (const [at, part] of parts.entries())
    yield { delta: deltaOf(part), endsBlock: at === parts.length - 1 };
}

function chunk(value: object, endsBlock: boolean): Frame {
  return { text: `data: ${JSON.stringify(value)}\n\n`, isCounted: true, endsBlock };
}

function head(message: Message, object: string) {
  return {
    id: message.id,
    object,
    created,
    model: message.model,
    service_tier: "default",
    system_fingerprint: "fp_modelserver",
  };
}

function callOf(block: { readonly id: string; readonly name: string; readonly json: string }): object {
  return { id: block.id, type: "function", function: { name: block.name, arguments: block.json } };
}

function finishReasonOf(message: Message): string {
  return finishReasons[message.stopReason] ?? message.stopReason;
}

/** `prompt_tokens` includes cached tokens here. */
function usageOf(message: Message): object {
  const { usage } = message;
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite;
  return {
    prompt_tokens: prompt,
    completion_tokens: usage.output,
    total_tokens: prompt + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cacheRead, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}
