/** The Messages wire format: event streams, complete messages, error bodies. */
import type { ApiError } from "../error.ts";
import { findObject } from "../json.ts";
import { type Frame, fragments, type Message, type MessageBlock } from "../message.ts";

/** Fields and events that no client knows, for `noise()`. */
const unknownFields = { x_future_field: { nested: [1, 2, 3] } };
const noiseFrames: readonly Frame[] = [
  noise(": keep-alive\n\n"),
  noise('event: future_event\ndata: {"type":"future_event","value":1}\n\n'),
  noise('retry: 3000\nid: 7\nevent: ping\ndata: {"type":"ping","x_future_field":true}\n\n'),
];

export function* streamAnthropic(message: Message): Generator<Frame> {
  const { isNoisy } = message.plan;
  let count = 0;
  for (const frame of plainFrames(message)) {
    if (isNoisy) yield noiseFrames[count++ % noiseFrames.length]!;
    yield frame;
  }
}

function* plainFrames(message: Message): Generator<Frame> {
  const { plan } = message;
  const event = (data: { readonly type: string }, endsBlock = false): Frame => ({
    text: sse(plan.isNoisy ? { ...data, ...unknownFields } : data),
    isCounted: true,
    endsBlock,
  });
  yield event({ type: "message_start", ...{ message: { ...header(message, null), content: [] } } });
  for (const [index, block] of message.blocks.entries()) {
    const { start, deltas } = blockEvents(block, plan.fragmentChars, plan.repeatsStart);
    yield event({ type: "content_block_start", ...{ index, content_block: start } });
    if (index === 0) yield event({ type: "ping" });
    for (const delta of deltas) yield event({ type: "content_block_delta", ...{ index, delta } });
    yield event({ type: "content_block_stop", ...{ index } }, true);
  }
  const delta = { stop_reason: message.stopReason, stop_sequence: message.stopSequence };
  yield event({ type: "message_delta", ...{ delta, usage: finalUsage(message) } });
  yield event({ type: "message_stop" });
}

/** A non-streaming answer. Arguments that are no JSON object stay a string. */
export function completeAnthropic(message: Message): object {
  const extra = message.plan.isNoisy ? unknownFields : {};
  const body = header(message, message.stopReason);
  const usage = { ...body.usage, output_tokens: message.usage.output };
  return {
    ...body,
    stop_sequence: message.stopSequence,
    content: message.blocks.map(completeBlock),
    usage,
    ...extra,
  };
}

export function anthropicErrorBody(error: ApiError, requestId: string): object {
  return { type: "error", error: { type: error.type, message: error.message }, request_id: requestId };
}

export function anthropicErrorFrame(error: ApiError, requestId: string): string {
  return `event: error\ndata: ${JSON.stringify(anthropicErrorBody(error, requestId))}\n\n`;
}

function sse(data: { readonly type: string }): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}

function noise(text: string): Frame {
  return { text, isCounted: false, endsBlock: false };
}

function header(message: Message, stopReason: string | null) {
  const { id, model, usage } = message;
  return {
    id,
    type: "message",
    role: "assistant",
    model,
    stop_reason: stopReason,
    stop_sequence: null,
    usage: {
      input_tokens: usage.input,
      cache_creation_input_tokens: usage.cacheWrite,
      cache_read_input_tokens: usage.cacheRead,
      cache_creation: {
        ephemeral_5m_input_tokens: usage.cacheWrite - usage.cacheWrite1h,
        ephemeral_1h_input_tokens: usage.cacheWrite1h,
      },
      output_tokens: Math.min(1, usage.output),
      service_tier: "standard",
    },
  };
}

function finalUsage(message: Message) {
  const { usage } = message;
  return {
    input_tokens: usage.input,
    cache_creation_input_tokens: usage.cacheWrite,
    cache_read_input_tokens: usage.cacheRead,
    output_tokens: usage.output,
    ...(usage.reasoning > 0 ? { output_tokens_details: { thinking_tokens: usage.reasoning } } : {}),
  };
}

function blockEvents(
  block: MessageBlock,
  size: number | undefined,
  repeatsStart: boolean,
): { start: object; deltas: object[] } {
  switch (block.type) {
    case "text": {
      const pieces = fragments(block.text, size);
      const start = { type: "text", text: repeatsStart ? (pieces[0] ?? "") : "" };
      return { start, deltas: pieces.map((piece) => ({ type: "text_delta", text: piece })) };
    }
    case "thinking": {
      const pieces = fragments(block.thinking, size);
      const start = { type: "thinking", thinking: repeatsStart ? (pieces[0] ?? "") : "", signature: "" };
      const deltas = pieces.map((piece) => ({ type: "thinking_delta", thinking: piece }));
      return { start, deltas: [...deltas, { type: "signature_delta", signature: block.signature }] };
    }
    case "redacted_thinking":
      return { start: block, deltas: [] };
    case "tool_use": {
      const pieces = ["", ...fragments(block.json, size)];
      const deltas = pieces.map((piece) => ({ type: "input_json_delta", partial_json: piece }));
      return { start: { type: "tool_use", id: block.id, name: block.name, input: {} }, deltas };
    }
    case "custom":
      return { start: block.start, deltas: [...block.deltas] };
  }
}

function completeBlock(block: MessageBlock): object {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "tool_use":
      return {
        type: "tool_use",
        id: block.id,
        name: block.name,
        input: findObject(block.json) ?? block.json,
      };
    case "custom":
      return block.start;
    case "thinking":
    case "redacted_thinking":
      return block;
  }
}
