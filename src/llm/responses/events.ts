/**
 * Converts the events of the Responses stream (https://platform.openai.com/docs/api-reference/responses-streaming) to
 * StreamEvents. Each output item is a block: reasoning is thinking, a message text, a function call a call; items of other
 * kinds are skipped. An event that means nothing to us is a ping: the server is at work.
 */
import type { BlockDelta, StopReason, StreamEvent, Usage } from "../../abi/llm.ts";
import type { Maker } from "../bound.ts";
import { NO_USAGE } from "../fold.ts";
import type { Decoder, ErrorWords } from "../http/codec.ts";
import { type Json, numberOf, objectOf, objectsOf, stringOf } from "../json.ts";
import { PARTS, phaseMark, signatureOf } from "./reasoning.ts";

type Kind = "text" | "thinking" | "tool_use";
const kinds: Readonly<Record<string, Kind>> = {
  message: "text",
  reasoning: "thinking",
  function_call: "tool_use",
};

/** An output item that is not done. */
interface OpenItem {
  readonly kind: Kind;
  readonly item: Json;
  /** undefined: nothing of it has come. */
  block: number | undefined;
}

/** The text of an item in its last event, for servers that send no deltas. */
const wholeTexts: Readonly<Record<Kind, (item: Json) => string>> = {
  text: (item) =>
    objectsOf(item.content)
      .map((part) => stringOf(part.text) || stringOf(part.refusal))
      .join(""),
  thinking: (item) =>
    objectsOf(item.summary)
      .map(({ text }) => stringOf(text))
      .join(PARTS),
  tool_use: (item) => stringOf(item.arguments),
};

const incompleteReasons: Readonly<Record<string, StopReason>> = {
  max_output_tokens: "max_tokens",
  content_filter: "refusal",
};

export class ResponsesDecoder implements Decoder {
  readonly #maker: Maker;
  #hasStarted = false;
  #nextBlock = 0;
  readonly #open = new Map<unknown, OpenItem>();
  /** Where items have ended. */
  readonly #ended = new Set<unknown>();
  #hasCalls = false;
  #isRefusal = false;
  #stopReason: StopReason | undefined;
  #usage: Usage = NO_USAGE;

  constructor(maker: Maker) {
    this.#maker = maker;
  }

  get isOver(): boolean {
    return this.#stopReason !== undefined;
  }

  get isFinished(): boolean {
    return this.isOver;
  }

  failure(event: Json): ErrorWords | undefined {
    if (event.type === "error") return wordsOf({ ...event, type: "", ...objectOf(event.error) });
    return event.type === "response.failed" ? wordsOf(objectOf(objectOf(event.response).error)) : undefined;
  }

  /** Throws RangeError for content of an item that is not open. */
  *decode(event: Json): Generator<StreamEvent> {
    if (!this.#hasStarted) {
      this.#hasStarted = true;
      const { id, model } = objectOf(event.response);
      yield { type: "message_start", message: { id: stringOf(id), model: stringOf(model), usage: NO_USAGE } };
    }
    switch (event.type) {
      case "response.output_item.added":
        return yield* this.#add(event.output_index, objectOf(event.item));
      case "response.output_item.done":
        return yield* this.#done(event.output_index, objectOf(event.item));
      case "response.refusal.delta":
        this.#isRefusal = true;
        return yield* this.#content(event, stringOf(event.delta));
      case "response.output_text.delta":
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
      case "response.function_call_arguments.delta":
        return yield* this.#content(event, stringOf(event.delta));
      case "response.reasoning_summary_part.added":
        return yield* this.#content(event, event.summary_index === 0 ? "" : PARTS);
      case "response.completed":
      case "response.incomplete":
        return yield* this.#end(objectOf(event.response));
      default:
        yield { type: "ping" };
    }
  }

  /** A call that was cut off is left open: it is never run. */
  *finish(): Generator<StreamEvent> {
    for (const { kind, block } of this.#open.values())
      if (kind !== "tool_use" && block !== undefined) yield { type: "content_block_stop", index: block };
    this.#open.clear();
    yield {
      type: "message_delta",
      delta: { stop_reason: this.#stopReason ?? "end_turn" },
      usage: this.#usage,
    };
    yield { type: "message_stop" };
  }

  *#add(at: unknown, item: Json): Generator<StreamEvent> {
    const kind = kinds[stringOf(item.type)];
    if (kind === undefined) return yield { type: "ping" };
    const open: OpenItem = { kind, item, block: undefined };
    this.#open.set(at, open);
    const phase = stringOf(item.phase);
    if (kind === "text" && phase !== "") yield* this.#mark(phaseMark(phase, this.#maker));
    // its name tells what the model is about to do
    if (kind === "tool_use") yield* this.#start(open);
  }

  /** An item that did not begin came whole, as some servers send it. */
  *#done(at: unknown, item: Json): Generator<StreamEvent> {
    if (this.#ended.has(at)) return yield { type: "ping" };
    if (!this.#open.has(at)) yield* this.#add(at, item);
    const open = this.#open.get(at);
    if (open === undefined) return;
    const { kind } = open;
    if (objectsOf(item.content).some(({ type }) => type === "refusal")) this.#isRefusal = true;
    const isEmpty = open.block === undefined || (kind === "tool_use" && !this.#hasJson.has(open));
    if (isEmpty) yield* this.#delta(open, wholeTexts[kind](item));
    const signature = kind === "thinking" ? signatureOf(item, this.#maker) : undefined;
    if (signature !== undefined) {
      yield* this.#start(open);
      yield* this.#push(open, { type: "signature_delta", signature });
    }
    if (kind === "tool_use" && item.status === "incomplete") return;
    this.#open.delete(at);
    this.#ended.add(at);
    if (kind === "tool_use") this.#hasCalls = true;
    if (open.block !== undefined) yield { type: "content_block_stop", index: open.block };
  }

  /** Calls of which arguments have come. */
  readonly #hasJson = new WeakSet<OpenItem>();

  *#content(event: Json, text: string): Generator<StreamEvent> {
    const open = this.#open.get(event.output_index);
    if (open === undefined) throw new RangeError("content of an output item that is not open");
    yield* this.#delta(open, text);
  }

  *#delta(open: OpenItem, text: string): Generator<StreamEvent> {
    if (text === "") return;
    yield* this.#start(open);
    if (open.kind === "text") yield* this.#push(open, { type: "text_delta", text });
    else if (open.kind === "thinking") yield* this.#push(open, { type: "thinking_delta", thinking: text });
    else {
      this.#hasJson.add(open);
      yield* this.#push(open, { type: "input_json_delta", partial_json: text });
    }
  }

  *#push({ block }: OpenItem, delta: BlockDelta): Generator<StreamEvent> {
    if (block !== undefined) yield { type: "content_block_delta", index: block, delta };
  }

  *#start(open: OpenItem): Generator<StreamEvent> {
    if (open.block !== undefined) return;
    const { kind, item } = open;
    open.block = this.#nextBlock++;
    const content_block =
      kind === "text"
        ? ({ type: kind, text: "" } as const)
        : kind === "thinking"
          ? ({ type: kind, thinking: "", signature: "" } as const)
          : ({
              type: kind,
              id: stringOf(item.call_id) || stringOf(item.id),
              name: stringOf(item.name),
              input: {},
            } as const);
    yield { type: "content_block_start", index: open.block, content_block };
  }

  *#mark(data: string): Generator<StreamEvent> {
    const index = this.#nextBlock++;
    yield { type: "content_block_start", index, content_block: { type: "redacted_thinking", data } };
    yield { type: "content_block_stop", index };
  }

  /** Of a reply whose items were not sent one by one the whole comes here. */
  *#end({ status, incomplete_details, usage, output }: Json): Generator<StreamEvent> {
    if (this.#ended.size + this.#open.size === 0)
      for (const [at, item] of objectsOf(output).entries()) yield* this.#done(at, item);
    const why = stringOf(objectOf(incomplete_details).reason);
    const whole = this.#isRefusal ? "refusal" : this.#hasCalls ? "tool_use" : "end_turn";
    this.#stopReason = status === "incomplete" ? (incompleteReasons[why] ?? "max_tokens") : whole;
    this.#usage = usageOf(objectOf(usage));
  }
}

/** A complete response as the events of its stream. */
export function* eventsOfResponse(response: Json): Generator<Json> {
  if (objectOf(response.error).message !== undefined && response.status === undefined)
    yield { type: "error", error: response.error };
  yield { type: "response.created", response };
  for (const [output_index, item] of objectsOf(response.output).entries()) {
    yield { type: "response.output_item.added", output_index, item };
    yield { type: "response.output_item.done", output_index, item };
  }
  const ends = ["completed", "incomplete", "failed"];
  const isEnd = ends.includes(stringOf(response.status));
  yield { type: isEnd ? `response.${stringOf(response.status)}` : "response.in_progress", response };
}

function wordsOf({ code, message, type }: Json): ErrorWords {
  const told = stringOf(code);
  const isPolicy = /policy/.test(told) && !/image/.test(told);
  const isImage = /image/.test(told);
  const name = isPolicy ? "policy_violation" : isImage ? "invalid_request_error" : stringOf(type);
  const text = stringOf(message);
  // a refused image is told by its message
  const words = isImage && !/image/i.test(text) ? `image refused: ${text}` : text;
  return { type: name, code: told, message: words };
}

/** `input_tokens` counts cached tokens too. */
function usageOf(usage: Json): Usage {
  const details = objectOf(usage.input_tokens_details);
  const [read, written] = [numberOf(details.cached_tokens), numberOf(details.cache_write_tokens)];
  const reasoning = numberOf(objectOf(usage.output_tokens_details).reasoning_tokens);
  return {
    input_tokens: Math.max(0, numberOf(usage.input_tokens) - read - written),
    output_tokens: numberOf(usage.output_tokens),
    cache_creation_input_tokens: written,
    cache_read_input_tokens: read,
    ...(reasoning > 0 ? { reasoning_tokens: reasoning } : {}),
  };
}
