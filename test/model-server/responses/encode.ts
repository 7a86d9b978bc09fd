/**
 * The Responses wire format: typed events, numbered, without an end mark. Thinking is a reasoning item with a summary and
 * encrypted content. https://platform.openai.com/docs/api-reference/responses-streaming
 */
import { type Frame, fragments, type Message, type MessageBlock } from "../message.ts";
import type { ModelRequest } from "../request.ts";

/** 2025-01-01; a fixed date keeps replies of one seed identical. */
const created = 1_735_689_600;
const unknownFields = { x_future_field: { nested: [1, 2, 3] } };

const incompleteReasons: Readonly<Record<string, string>> = {
  max_tokens: "max_output_tokens",
  model_context_window_exceeded: "max_output_tokens",
  refusal: "content_filter",
};

/** An output item, and the events between its beginning and its end. */
interface Item {
  readonly begun: Record<string, unknown>;
  readonly done: Record<string, unknown>;
  readonly between: readonly Record<string, unknown>[];
}

export function* streamResponses(message: Message, request: ModelRequest): Generator<Frame> {
  const { isNoisy } = message.plan;
  let sequence_number = 0;
  const frame = (event: Record<string, unknown>, endsBlock = false): Frame => {
    const extra = isNoisy ? unknownFields : {};
    const text = `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: sequence_number++, ...extra })}\n\n`;
    return { text, isCounted: true, endsBlock };
  };
  const begun = { ...head(message, request), status: "in_progress", output: [], usage: null };
  yield frame({ type: "response.created", response: begun });
  yield frame({ type: "response.in_progress", response: begun });
  const items = itemsOf(message, request);
  for (const [output_index, { begun: item, between, done }] of items.entries()) {
    if (isNoisy) {
      yield { text: ": keep-alive\n\n", isCounted: false, endsBlock: false };
      yield { text: 'event: keepalive\ndata: {"type":"keepalive"}\n\n', isCounted: false, endsBlock: false };
    }
    yield frame({ type: "response.output_item.added", output_index, item });
    for (const event of between) yield frame({ ...event, item_id: item.id, output_index });
    yield frame({ type: "response.output_item.done", output_index, item: done }, true);
  }
  const response = completeResponses(message, request, items);
  yield frame({ type: `response.${response.status}`, response });
}

export function completeResponses(
  message: Message,
  request: ModelRequest,
  items = itemsOf(message, request),
) {
  const reason = incompleteReasons[message.stopReason];
  return {
    ...head(message, request),
    status: reason === undefined ? ("completed" as const) : ("incomplete" as const),
    incomplete_details: reason === undefined ? null : { reason },
    output: items.map(({ done }) => done),
    usage: usageOf(message),
    ...(message.plan.isNoisy ? unknownFields : {}),
  };
}

function head(message: Message, { body }: ModelRequest) {
  return {
    id: message.id,
    object: "response",
    created_at: created,
    error: null,
    incomplete_details: null,
    instructions: body.instructions ?? null,
    metadata: {},
    model: message.model,
    parallel_tool_calls: true,
    prompt_cache_key: body.prompt_cache_key ?? null,
    reasoning: body.reasoning ?? { effort: null, summary: null },
    store: body.store ?? true,
    temperature: 1,
    tool_choice: "auto",
    tools: body.tools ?? [],
    top_p: 1,
  };
}

function itemsOf(message: Message, { body }: ModelRequest): Item[] {
  const asked = Array.isArray(body.include) ? body.include : [];
  const isEncrypted = asked.includes("reasoning.encrypted_content");
  return message.blocks.flatMap((block, at) => itemOf(block, { message, at, isEncrypted }));
}

interface Place {
  readonly message: Message;
  readonly at: number;
  readonly isEncrypted: boolean;
}

function itemOf(block: MessageBlock, { message, at, isEncrypted }: Place): Item[] {
  const size = message.plan.fragmentChars;
  const own = message.id.replace(/^resp_/, "");
  if (block.type === "text") return [textItem(`msg_${own}_${at}`, block.text, size)];
  if (block.type === "thinking")
    return [
      reasoningItem(`rs_${own}_${at}`, block.thinking, {
        size,
        encrypted: isEncrypted ? block.signature : null,
      }),
    ];
  if (block.type === "tool_use") return [callItem(`fc_${own}_${at}`, block, size)];
  return [];
}

function textItem(id: string, text: string, size: number | undefined): Item {
  const message = { id, type: "message", role: "assistant" };
  const part = { type: "output_text", text, annotations: [], logprobs: [] };
  const place = { content_index: 0 };
  return {
    begun: { ...message, status: "in_progress", content: [] },
    between: [
      { type: "response.content_part.added", ...place, part: { ...part, text: "" } },
      ...fragments(text, size).map((delta) => ({
        type: "response.output_text.delta",
        ...place,
        delta,
        logprobs: [],
      })),
      { type: "response.output_text.done", ...place, text, logprobs: [] },
      { type: "response.content_part.done", ...place, part },
    ],
    done: { ...message, status: "completed", content: [part] },
  };
}

function reasoningItem(
  id: string,
  text: string,
  { size, encrypted }: { readonly size: number | undefined; readonly encrypted: string | null },
): Item {
  const place = { summary_index: 0 };
  const part = { type: "summary_text", text };
  const reasoning = { id, type: "reasoning", encrypted_content: encrypted };
  return {
    begun: { ...reasoning, summary: [] },
    between: [
      { type: "response.reasoning_summary_part.added", ...place, part: { ...part, text: "" } },
      ...fragments(text, size).map((delta) => ({
        type: "response.reasoning_summary_text.delta",
        ...place,
        delta,
      })),
      { type: "response.reasoning_summary_text.done", ...place, text },
      { type: "response.reasoning_summary_part.done", ...place, part },
    ],
    done: { ...reasoning, summary: [part] },
  };
}

function callItem(
  id: string,
  block: { readonly id: string; readonly name: string; readonly json: string },
  size: number | undefined,
): Item {
  const call = { id, type: "function_call", call_id: block.id, name: block.name };
  return {
    begun: { ...call, arguments: "", status: "in_progress" },
    between: [
      ...fragments(block.json, size).map((delta) => ({
        type: "response.function_call_arguments.delta",
        delta,
      })),
      { type: "response.function_call_arguments.done", arguments: block.json },
    ],
    done: { ...call, arguments: block.json, status: "completed" },
  };
}

/** `input_tokens` includes cached tokens here. */
function usageOf({ usage }: Message): object {
  const input = usage.input + usage.cacheRead + usage.cacheWrite;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: usage.cacheWrite },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: input + usage.output,
  };
}
