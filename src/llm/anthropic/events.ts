/**
 * Converts the Messages stream (https://docs.claude.com/en/api/messages-streaming) to StreamEvents. Unknown event
 * types, blocks, deltas and fields are skipped; the remaining blocks are numbered without gaps.
 */
import {
  type Block,
  type BlockDelta,
  type StopReason,
  type StreamEvent,
  stopReasonOf,
  type Usage,
} from "../../abi/llm.ts";
import { emptied } from "../blocks.ts";
import { NO_USAGE } from "../fold.ts";
import { type Json, numberOf, objectOf, stringOf } from "../json.ts";

interface OpenBlock {
  /** undefined: it is skipped. */
  readonly index: number | undefined;
  readonly start: Json;
  isEmpty: boolean;
}

/** The state of one reply. The caller handles `error` events. */
export class MessagesDecoder {
  /** By the vendor's index. */
  readonly #open = new Map<unknown, OpenBlock>();
  #next = 0;
  #usage: Usage = NO_USAGE;

  /** Throws RangeError for content of a block that is not open, and for a reply that its platform could not read. */
  *decode(event: Json): Generator<StreamEvent> {
    switch (event.type) {
      case "message_start":
        return yield this.#start(objectOf(event.message));
      case "content_block_start":
        return yield* this.#blockStart(event);
      case "content_block_delta":
        return yield* this.#delta(event);
      case "content_block_stop":
        return yield* this.#blockStop(event.index);
      case "message_delta": {
        this.#usage = mergeUsage(this.#usage, objectOf(event.usage));
        const reason = stringOf(objectOf(event.delta).stop_reason);
        // without a reason it only reports usage
        if (reason === "") return;
        return yield { type: event.type, delta: { stop_reason: stopReasonIn(reason) }, usage: this.#usage };
      }
      case "message_stop":
        return yield { type: event.type };
      default:
        // an event that means nothing here, too, says that the server is at work
        yield { type: "ping" };
    }
  }

  #start(message: Json): StreamEvent {
    this.#usage = mergeUsage(NO_USAGE, objectOf(message.usage));
    return {
      type: "message_start",
      message: { id: stringOf(message.id), model: stringOf(message.model), usage: this.#usage },
    };
  }

  *#blockStart({ index: at, content_block }: Json): Generator<StreamEvent> {
    // a server that numbers all blocks alike, or none, has ended the one before
    yield* this.#blockStop(at);
    const start = objectOf(content_block);
    const block = findBlock(start);
    const index = block === undefined ? undefined : this.#next++;
    this.#open.set(at, { index, start, isEmpty: true });
    if (block !== undefined && index !== undefined)
      yield { type: "content_block_start", index, content_block: block };
  }

  *#delta(event: Json): Generator<StreamEvent> {
    const open = this.#open.get(event.index);
    if (open === undefined) throw new RangeError("content of a block that is not open");
    const { index } = open;
    const delta = findDelta(objectOf(event.delta));
    if (index === undefined || delta === undefined) return;
    open.isEmpty = false;
    yield { type: "content_block_delta", index, delta };
  }

  /** What a block began with counts if nothing followed: some servers send blocks whole. */
  *#blockStop(at: unknown): Generator<StreamEvent> {
    const open = this.#open.get(at);
    this.#open.delete(at);
    if (open?.index === undefined) return;
    const { index, start, isEmpty } = open;
    for (const delta of isEmpty ? deltasOfBlock(start).map(findDelta) : [])
      if (delta !== undefined) yield { type: "content_block_delta", index, delta };
    yield { type: "content_block_stop", index };
  }
}

/** What the platforms of the clouds say when their filters, and not the model, end a reply. */
const FILTERED: ReadonlySet<string> = new Set(["guardrail_intervened", "content_filtered", "content_filter"]);

function stopReasonIn(reason: string): StopReason {
  if (reason.startsWith("malformed_")) throw new RangeError(`the model made a malformed reply (${reason})`);
  return FILTERED.has(reason) ? "refusal" : stopReasonOf(reason);
}

/** A complete message (https://docs.claude.com/en/api/messages) as the events of its stream. */
export function* eventsOfMessage(message: Json): Generator<Json> {
  yield { type: "message_start", message };
  const content = Array.isArray(message.content) ? message.content : [];
  for (const [index, each] of content.entries()) {
    const content_block = objectOf(each);
    yield { type: "content_block_start", index, content_block };
    yield { type: "content_block_stop", index };
  }
  const { stop_reason, usage } = message;
  yield { type: "message_delta", delta: { stop_reason }, usage };
  yield { type: "message_stop" };
}

function deltasOfBlock(block: Json): Json[] {
  const { text, thinking, signature, input } = block;
  switch (block.type) {
    case "text":
      return [{ type: "text_delta", text }];
    case "thinking":
      return [
        { type: "thinking_delta", thinking },
        { type: "signature_delta", signature },
      ];
    case "tool_use":
      // arguments that are not JSON come as a string
      return [
        {
          type: "input_json_delta",
          partial_json: typeof input === "string" ? input : JSON.stringify(input ?? {}),
        },
      ];
    default:
      return [];
  }
}

/** Merges usage reports; an absent or null field keeps its earlier value. */
function mergeUsage(usage: Usage, more: Json): Usage {
  const pick = (name: Exclude<keyof Usage, "reasoning_tokens" | "cache_creation_1h_tokens">): number => {
    const value = more[name];
    return typeof value === "number" ? value : usage[name];
  };
  const thought = objectOf(more.output_tokens_details).thinking_tokens ?? usage.reasoning_tokens;
  const forAnHour =
    objectOf(more.cache_creation).ephemeral_1h_input_tokens ?? usage.cache_creation_1h_tokens ?? 0;
  return {
    input_tokens: pick("input_tokens"),
    output_tokens: pick("output_tokens"),
    cache_creation_input_tokens: pick("cache_creation_input_tokens"),
    cache_read_input_tokens: pick("cache_read_input_tokens"),
    ...(typeof thought === "number" ? { reasoning_tokens: thought } : {}),
    ...(numberOf(forAnHour) > 0 ? { cache_creation_1h_tokens: numberOf(forAnHour) } : {}),
  };
}

function findBlock(block: Json): Block | undefined {
  switch (block.type) {
    case "text":
      return emptied({ type: "text", text: "" });
    case "thinking":
      return emptied({ type: "thinking", thinking: "", signature: "" });
    case "redacted_thinking":
      return { type: "redacted_thinking", data: stringOf(block.data) };
    case "tool_use":
      return { type: "tool_use", id: stringOf(block.id), name: stringOf(block.name), input: {} };
    default:
      return undefined;
  }
}

function findDelta(delta: Json): BlockDelta | undefined {
  switch (delta.type) {
    case "text_delta":
      return { type: "text_delta", text: stringOf(delta.text) };
    case "thinking_delta":
      return { type: "thinking_delta", thinking: stringOf(delta.thinking) };
    case "signature_delta":
      return { type: "signature_delta", signature: stringOf(delta.signature) };
    case "input_json_delta":
      return { type: "input_json_delta", partial_json: stringOf(delta.partial_json) };
    default:
      return undefined;
  }
}
