/**
 * Converts Chat Completions chunks to StreamEvents. Text and thinking are blocks that end when another block begins.
 * Each call is its own block, joined by its index, and ends when its arguments are complete and another call begins.
 */
import { randomUUID } from "node:crypto";
import {
  type LlmErrorKind,
  type StopReason,
  type StreamEvent,
  stopReasonOf,
  type Usage,
} from "../../abi/llm.ts";
import { NO_USAGE } from "../fold.ts";
import { BlockWriter } from "../http/block-writer.ts";
import type { Codec, Decoder, ErrorWords } from "../http/codec.ts";
import { type Json, numberOf, objectOf, objectsOf, stringOf } from "../json.ts";

interface OpenCall {
  readonly block: number;
  readonly id: string;
  readonly json: string[];
  isEnded: boolean;
}

const stopReasons: ReadonlyMap<string, StopReason> = new Map([
  ["stop", "end_turn"],
  ["tool_calls", "tool_use"],
  ["function_call", "tool_use"],
  ["length", "max_tokens"],
  ["content_filter", "refusal"],
  // Zhipu's word for the same
  ["sensitive", "refusal"],
  // Mistral: the context is full
  ["model_length", "model_context_window_exceeded"],
]);

/** Reasons that are failures: DeepSeek's word for a reply that it had no resources to complete, and that of routers. */
const BROKEN_OFF: ReadonlyMap<string, LlmErrorKind> = new Map([
  ["insufficient_system_resource", "overloaded"],
  ["error", "server"],
  // vLLM and SGLang: the server gave up the request
  ["abort", "server"],
  // Zhipu
  ["network_error", "server"],
  // Google: the call that the model made was none
  ["function_call_filter", "stream_malformed"],
]);

export class ChatDecoder implements Decoder {
  #hasStarted = false;
  readonly #blocks = new BlockWriter();
  /** Calls by the server's index; if it is used again, the last call that began there. */
  readonly #calls = new Map<number, OpenCall>();
  #finishReason = "";
  #isRefusal = false;
  #usage: Usage = NO_USAGE;

  /** The usage follows the finish reason; `[DONE]` or the end of the body follows both. */
  readonly isOver = false;

  /** Whether the server said why it stopped. */
  get isFinished(): boolean {
    return this.#finishReason !== "";
  }

  failure(event: Json): ErrorWords | undefined {
    const [choice] = objectsOf(event.choices);
    const told = errorIn(event) ?? choice?.error ?? undefined;
    if (told !== undefined) return wordsOf(told);
    const reason = wordOf(choice?.finish_reason);
    const kind = BROKEN_OFF.get(reason);
    if (kind === undefined) return undefined;
    return { type: "", code: reason, message: `it broke off the reply (${reason})`, kind };
  }

  /** Decodes a chunk. Throws RangeError if a fragment belongs to a call that has ended. */
  *decode(chunk: Json): Generator<StreamEvent> {
    if (!this.#hasStarted) {
      this.#hasStarted = true;
      const { id, model } = chunk;
      yield { type: "message_start", message: { id: stringOf(id), model: stringOf(model), usage: NO_USAGE } };
    }
    if (typeof chunk.usage === "object" && chunk.usage !== null) this.#usage = usageOf(objectOf(chunk.usage));
    const [choice] = objectsOf(chunk.choices);
    if (choice === undefined) return;
    const delta = objectOf(choice.delta);
    yield* this.#blocks.prose("thinking", stringOf(delta.reasoning_content) || stringOf(delta.reasoning));
    yield* this.#content(delta.content);
    const refusal = stringOf(delta.refusal);
    if (refusal !== "") this.#isRefusal = true;
    yield* this.#blocks.prose("text", refusal);
    for (const [at, fragment] of objectsOf(delta.tool_calls).entries()) yield* this.#call(fragment, at);
    // the one call of servers from before there were several
    if (delta.function_call) yield* this.#call({ function: delta.function_call }, 0);
    this.#finishReason = wordOf(choice.finish_reason) || this.#finishReason;
  }

  /** The events that end the reply. */
  *finish(): Generator<StreamEvent> {
    yield* this.#blocks.end();
    for (const call of this.#calls.values()) yield* endCall(call);
    yield { type: "message_delta", delta: { stop_reason: this.#stopReason() }, usage: this.#usage };
    yield { type: "message_stop" };
  }

  /** The stop reason. If there are calls, it is `tool_use` even if the server says `stop`, as some servers do. */
  #stopReason(): StopReason {
    const said = stopReasons.get(this.#finishReason) ?? stopReasonOf(this.#finishReason);
    if (this.#isRefusal) return "refusal";
    if (said === "end_turn" && this.#calls.size > 0) return "tool_use";
    return said === "tool_use" && this.#calls.size === 0 ? "end_turn" : said;
  }

  /** A text, or parts of text and, at Mistral, of thinking, which has parts of its own. */
  *#content(content: unknown): Generator<StreamEvent> {
    if (!Array.isArray(content)) return yield* this.#blocks.prose("text", stringOf(content));
    for (const { text, thinking } of objectsOf(content)) {
      const thought = objectsOf(thinking).map((part) => stringOf(part.text));
      yield* this.#blocks.prose("thinking", thought.join("") || stringOf(thinking));
      yield* this.#blocks.prose("text", stringOf(text));
    }
  }

  /**
   * Adds a fragment of a call. Servers may omit index or id, number every call 0, or give all the same id; a name with a
   * new id begins a call, and so does one after arguments that are complete.
   */
  *#call(fragment: Json, at: number): Generator<StreamEvent> {
    const id = stringOf(fragment.id);
    const index = typeof fragment.index === "number" ? fragment.index : at;
    const { name, arguments: json } = objectOf(fragment.function);
    const partial_json = typeof json === "object" && json !== null ? JSON.stringify(json) : stringOf(json);
    let call = this.#calls.get(index);
    const isOther =
      call !== undefined &&
      stringOf(name) !== "" &&
      ((id !== "" && id !== call.id) || (partial_json.trimStart().startsWith("{") && isWhole(call)));
    if (call === undefined || isOther) {
      yield* this.#blocks.end();
      for (const other of this.#calls.values()) if (isComplete(other)) yield* endCall(other);
      if (call !== undefined) yield* endCall(call);
      call = { block: this.#blocks.take(), id: id || `call_${randomUUID()}`, json: [], isEnded: false };
      // the previous call with this index has ended: move it to a number that no server sends
      const previous = this.#calls.get(index);
      if (previous !== undefined) this.#calls.set(-1 - previous.block, previous);
      this.#calls.set(index, call);
      const content_block = { type: "tool_use", id: call.id, name: stringOf(name), input: {} } as const;
      yield { type: "content_block_start", index: call.block, content_block };
    }
    if (partial_json === "") return;
    if (call.isEnded) {
      if (partial_json.trim() === "") return;
      throw new RangeError("arguments for a call that was complete");
    }
    call.json.push(partial_json);
    yield {
      type: "content_block_delta",
      index: call.block,
      delta: { type: "input_json_delta", partial_json },
    };
  }
}

/** The reason for an end without what Google adds to it: `content_filter: PROHIBITED_CONTENT`. */
function wordOf(reason: unknown): string {
  return stringOf(reason).replace(/:.*$/s, "");
}

function* endCall(call: OpenCall): Generator<StreamEvent> {
  if (call.isEnded) return;
  call.isEnded = true;
  yield { type: "content_block_stop", index: call.block };
}

/** Whether the arguments are complete. Checked once per later call, so the cost stays nearly linear. */
function isComplete(call: OpenCall): boolean {
  return !call.isEnded && isWhole(call);
}

/** Whether the arguments are one JSON text. */
function isWhole({ json }: OpenCall): boolean {
  if (json.at(-1)?.trimEnd().endsWith("}") !== true) return false;
  try {
    JSON.parse(json.join(""));
    return true;
  } catch {
    return false;
  }
}

/** `prompt_tokens` counts cached tokens too; DeepSeek has a field of its own for these. */
function usageOf(usage: Json): Usage {
  const details = numberOf(objectOf(usage.prompt_tokens_details).cached_tokens);
  const cached = details || numberOf(usage.prompt_cache_hit_tokens);
  const thought = numberOf(objectOf(usage.completion_tokens_details).reasoning_tokens);
  return {
    input_tokens: Math.max(0, numberOf(usage.prompt_tokens) - cached),
    output_tokens: numberOf(usage.completion_tokens),
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cached,
    ...(thought > 0 ? { reasoning_tokens: thought } : {}),
  };
}

/** What an answer says went wrong; of some servers it is the answer itself. */
function errorIn(answer: Json): unknown {
  return answer.error ?? (answer.object === "error" ? answer : undefined);
}

/** `error` is `{message, type, code}`, or a plain string from some servers. */
function wordsOf(error: unknown, fallback = ""): ErrorWords {
  const { type, code, message } = objectOf(error);
  const text = stringOf(error) || stringOf(message) || fallback;
  // routers put the status of the server behind them there
  const status = numberOf(code) >= 400 && numberOf(code) <= 599 ? { status: numberOf(code) } : {};
  return { type: stringOf(type), code: stringOf(code), message: text, ...status };
}

/** A complete answer as the one chunk of its stream. It is complete even if it does not say why it ended. */
export function chunkOf(answer: Json): Json {
  const choices = objectsOf(answer.choices).map(({ message, finish_reason, ...choice }) => ({
    ...choice,
    delta: message,
    finish_reason: finish_reason ?? "stop",
  }));
  return { ...answer, choices };
}

/** What every interface of such a server has in common. */
export const OPENAI_SERVER: Pick<Codec, "refusal" | "models"> = {
  refusal: (body, fallback) => {
    const { status: _, ...words } = wordsOf(errorIn(body), fallback);
    return words;
  },
  models: { path: "/models", ids: ({ data }) => objectsOf(data).map(({ id }) => stringOf(id)) },
};
