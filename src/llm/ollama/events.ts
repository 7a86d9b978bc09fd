/** Converts the lines of an Ollama chat to StreamEvents. Text and thinking come in pieces, a call whole; the last line counts. */
import { randomUUID } from "node:crypto";
import type { StopReason, StreamEvent, Usage } from "../../abi/llm.ts";
import { NO_USAGE } from "../fold.ts";
import { BlockWriter } from "../http/block-writer.ts";
import type { Decoder, ErrorWords } from "../http/codec.ts";
import { type Json, numberOf, objectOf, objectsOf, stringOf } from "../json.ts";

export class OllamaDecoder implements Decoder {
  #hasStarted = false;
  readonly #blocks = new BlockWriter();
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
    const message = stringOf(error) || stringOf(objectOf(error).message);
    return message === "" ? undefined : { type: "", code: "", message };
  }

  *decode(line: Json): Generator<StreamEvent> {
    if (!this.#hasStarted) {
      this.#hasStarted = true;
      yield { type: "message_start", message: { id: "", model: stringOf(line.model), usage: NO_USAGE } };
    }
    const { thinking, content, tool_calls: calls } = objectOf(line.message);
    yield* this.#blocks.prose("thinking", stringOf(thinking));
    yield* this.#blocks.prose("text", stringOf(content));
    for (const call of objectsOf(calls)) yield* this.#call(call);
    if (line.done !== true) return;
    this.#doneReason = stringOf(line.done_reason);
    const [input_tokens, output_tokens] = [numberOf(line.prompt_eval_count), numberOf(line.eval_count)];
    this.#usage = { ...NO_USAGE, input_tokens, output_tokens };
  }

  *finish(): Generator<StreamEvent> {
    yield* this.#blocks.end();
    yield { type: "message_delta", delta: { stop_reason: this.#stopReason() }, usage: this.#usage };
    yield { type: "message_stop" };
  }

  #stopReason(): StopReason {
    if (this.#doneReason === "length") return "max_tokens";
    return this.#hasCalls ? "tool_use" : "end_turn";
  }

  /** Ids are new in Ollama. */
  *#call({ id, function: called }: Json): Generator<StreamEvent> {
    this.#hasCalls = true;
    const { name, arguments: args } = objectOf(called);
    yield* this.#blocks.call(stringOf(id) || `call_${randomUUID()}`, stringOf(name), args);
  }
}
