/**
 * Converts the chunks of a streamGenerateContent reply to StreamEvents. Parts of text in a row are one block, up to one with a
 * signature; a call comes whole. The last chunk has the reason for the end and the usage.
 */
import { randomUUID } from "node:crypto";
import type { StopReason, StreamEvent, Usage } from "../../abi/llm.ts";
import { bind, type Maker } from "../bound.ts";
import { NO_USAGE } from "../fold.ts";
import { BlockWriter } from "../http/block-writer.ts";
import type { Decoder, ErrorWords } from "../http/codec.ts";
import { type Json, numberOf, objectOf, objectsOf, stringOf } from "../json.ts";
import { eventWords } from "./failure.ts";
import { makerOf, markOf } from "./signature.ts";

/** Before the id of a call that came without one, and is sent back without one. */
export const UNNUMBERED = "unnumbered_";

const stopReasons: Readonly<Record<string, StopReason>> = {
  STOP: "end_turn",
  MAX_TOKENS: "max_tokens",
  // a longer reply goes on in another request
  CONTINUATION: "max_tokens",
};
/** The model could not put into words what it wanted to do; asked again, it mostly can. */
const malformed = /^(MALFORMED_|UNEXPECTED_TOOL_CALL|TOO_MANY_TOOL_CALLS|MISSING_THOUGHT_SIGNATURE|OTHER$)/;
const refused = /SAFETY|RECITATION|BLOCKLIST|PROHIBITED|SPII|LANGUAGE|MODEL_ARMOR|JAILBREAK/;

export class GeminiDecoder implements Decoder {
  readonly #maker: Maker;
  #hasStarted = false;
  readonly #blocks = new BlockWriter();
  #hasWords = false;
  #hasCalls = false;
  #finishReason = "";
  #usage: Usage = NO_USAGE;

  /** The end of the body follows the last chunk. */
  readonly isOver = false;

  constructor(model: string) {
    this.#maker = makerOf(model);
  }

  get isFinished(): boolean {
    return this.#finishReason !== "";
  }

  failure({ error, promptFeedback }: Json): ErrorWords | undefined {
    if (error !== undefined && error !== null) return eventWords(objectOf(error));
    const blocked = stringOf(objectOf(promptFeedback).blockReason);
    if (blocked === "") return undefined;
    return { type: blocked, code: "", message: `the prompt was blocked (${blocked})`, kind: "refusal" };
  }

  /** Throws RangeError for a malformed call, unless nothing was said before: then it is an empty reply. */
  *decode(chunk: Json): Generator<StreamEvent> {
    if (!this.#hasStarted) {
      this.#hasStarted = true;
      const [id, model] = [stringOf(chunk.responseId), stringOf(chunk.modelVersion)];
      yield { type: "message_start", message: { id, model, usage: NO_USAGE } };
    }
    if (chunk.usageMetadata !== undefined) this.#usage = usageOf(objectOf(chunk.usageMetadata));
    const [candidate = {}] = objectsOf(chunk.candidates);
    const parts = objectsOf(objectOf(candidate.content).parts);
    if (parts.length === 0) yield { type: "ping" };
    for (const part of parts) yield* this.#part(part);
    this.#finishReason = stringOf(candidate.finishReason) || this.#finishReason;
    if (malformed.test(this.#finishReason) && (this.#hasWords || this.#hasCalls))
      throw new RangeError(`the model made a malformed call (${this.#finishReason})`);
  }

  *finish(): Generator<StreamEvent> {
    yield* this.#blocks.end();
    yield { type: "message_delta", delta: { stop_reason: this.#stopReason() }, usage: this.#usage };
    yield { type: "message_stop" };
  }

  #stopReason(): StopReason {
    if (refused.test(this.#finishReason)) return "refusal";
    const said = stopReasons[this.#finishReason] ?? "end_turn";
    return said === "end_turn" && this.#hasCalls ? "tool_use" : said;
  }

  *#part(part: Json): Generator<StreamEvent> {
    const signature = stringOf(part.thoughtSignature);
    const text = stringOf(part.text);
    if (part.functionCall !== undefined) {
      yield* this.#blocks.end();
      yield* this.#mark(signature, false);
      yield* this.#call(objectOf(part.functionCall));
    } else if (part.thought === true) {
      yield* this.#blocks.prose("thinking", text);
      if (signature !== "")
        yield* this.#blocks.delta({ type: "signature_delta", signature: bind(this.#maker, signature) });
      if (signature !== "") yield* this.#blocks.end();
    } else if (signature === "") {
      yield* this.#text(text);
    } else {
      yield* this.#blocks.end();
      yield* this.#mark(signature, text === "");
      yield* this.#text(text);
      yield* this.#blocks.end();
    }
  }

  *#text(text: string): Generator<StreamEvent> {
    if (text !== "") this.#hasWords = true;
    yield* this.#blocks.prose("text", text);
  }

  *#mark(signature: string, isAlone: boolean): Generator<StreamEvent> {
    if (signature === "") return;
    const index = this.#blocks.take();
    const data = markOf({ signature, isAlone }, this.#maker);
    yield { type: "content_block_start", index, content_block: { type: "redacted_thinking", data } };
    yield { type: "content_block_stop", index };
  }

  *#call({ id, name, args }: Json): Generator<StreamEvent> {
    this.#hasCalls = true;
    yield* this.#blocks.call(stringOf(id) || `${UNNUMBERED}${randomUUID()}`, stringOf(name), args);
  }
}

/** `promptTokenCount` includes cached tokens; thoughts are counted apart from what they led to. */
function usageOf(usage: Json): Usage {
  const cached = numberOf(usage.cachedContentTokenCount);
  const thought = numberOf(usage.thoughtsTokenCount);
  const prompt = numberOf(usage.promptTokenCount) + numberOf(usage.toolUsePromptTokenCount);
  return {
    input_tokens: Math.max(0, prompt - cached),
    output_tokens: numberOf(usage.candidatesTokenCount) + thought,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cached,
    ...(thought > 0 ? { reasoning_tokens: thought } : {}),
  };
}
