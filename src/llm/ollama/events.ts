/** Converts the lines of an Ollama chat to StreamEvents. Text and thinking come in pieces, a call whole; the last line counts. */
import { randomUUID } from "node:crypto";
import type { StopReason, StreamEvent, Usage } from "../../abi/llm.ts";
import { NO_USAGE } from "../fold.ts";
import type { Decoder, ErrorWords } from "../http/codec.ts";
import { type Json, numberOf, objectOf, objectsOf, stringOf } from "../json.ts";

export class OllamaDecoder implements Decoder {
  #hasStarted = false;
  #nextBlock = 0;
  #open: { readonly type: "text" | "thinking"; readonly block: number } | undefined;
  #hasCalls = false;
  #doneReason: string | undefined;
  #usage: Usage = NO_USAGE;

  get isOver(): boolean {
    return this.#doneReason !== undefined;
  }

  get isFinished(): boolean {
    return this.isOver;
  }

  failure({ error }: Json): ErrorWords | undefined {
    return error === undefined ? undefined : { type: "", code: "", message: stringOf(error) };
  }

  *decode(line: Json): Generator<StreamEvent> {
    if (!this.#hasStarted) {
      this.#hasStarted = true;
      yield { type: "message_start", message: { id: "", model: stringOf(line.model), usage: NO_USAGE } };
    }
    const { thinking, content, tool_calls: calls } = objectOf(line.message);
    yield* this.#text("thinking", stringOf(thinking));
    yield* this.#text("text", stringOf(content));
    for (const call of objectsOf(calls)) yield* this.#call(call);
    if (line.done !== true) return;
    this.#doneReason = stringOf(line.done_reason);
    const [input_tokens, output_tokens] = [numberOf(line.prompt_eval_count), numberOf(line.eval_count)];
    this.#usage = { ...NO_USAGE, input_tokens, output_tokens };
  }

  *finish(): Generator<StreamEvent> {
    yield* this.#end();
    yield { type: "message_delta", delta: { stop_reason: this.#stopReason() }, usage: this.#usage };
    yield { type: "message_stop" };
  }

  #stopReason(): StopReason {
    if (this.#doneReason === "length") return "max_tokens";
    return this.#hasCalls ? "tool_use" : "end_turn";
  }

  *#text(type: "text" | "thinking", text: string): Generator<StreamEvent> {
    if (text === "") return;
    if (this.#open?.type !== type) {
      yield* this.#end();
      this.#open = { type, block: this.#nextBlock++ };
      const content_block =
        type === "text" ? ({ type, text: "" } as const) : ({ type, thinking: "", signature: "" } as const);
      yield { type: "content_block_start", index: this.#open.block, content_block };
    }
    const delta =
      type === "text"
        ? ({ type: "text_delta", text } as const)
        : ({ type: "thinking_delta", thinking: text } as const);
    yield { type: "content_block_delta", index: this.#open.block, delta };
  }

  *#end(): Generator<StreamEvent> {
    if (this.#open !== undefined) yield { type: "content_block_stop", index: this.#open.block };
    this.#open = undefined;
  }

  /** Ids are new in Ollama. */
  *#call({ id, function: called }: Json): Generator<StreamEvent> {
    yield* this.#end();
    this.#hasCalls = true;
    const { name, arguments: args } = objectOf(called);
    const index = this.#nextBlock++;
    const own = stringOf(id) || `call_${randomUUID()}`;
    const content_block = { type: "tool_use", id: own, name: stringOf(name), input: {} } as const;
    yield { type: "content_block_start", index, content_block };
    const delta = { type: "input_json_delta", partial_json: JSON.stringify(args ?? {}) } as const;
    yield { type: "content_block_delta", index, delta };
    yield { type: "content_block_stop", index };
  }
}
