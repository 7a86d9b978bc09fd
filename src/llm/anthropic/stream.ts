/** A reply of Claude as the platforms of the clouds stream it: the events are those of its vendor. */
import type { StreamEvent } from "../../abi/llm.ts";
import type { Decoder, ErrorWords } from "../http/codec.ts";
import { type Json, objectOf } from "../json.ts";
import { MessagesDecoder } from "./events.ts";

/** Amazon's mark on a chunk of the reply, or on the whole one: its guardrail has put other words in its place. */
const GUARDRAIL = "amazon-bedrock-guardrailAction";

export class ClaudeStream implements Decoder {
  readonly #decoder = new MessagesDecoder();
  readonly #failure: (event: Json) => ErrorWords | undefined;
  #end: Extract<StreamEvent, { type: "message_delta" }> | undefined;
  #isBlocked = false;
  isOver = false;

  /** `failure`: what an event says went wrong. */
  constructor(failure: Decoder["failure"]) {
    this.#failure = failure;
  }

  get isFinished(): boolean {
    return this.isOver;
  }

  failure(event: Json): ErrorWords | undefined {
    return this.#failure(event);
  }

  *decode(event: Json): Generator<StreamEvent> {
    if ([event, objectOf(event.message)].some((told) => told[GUARDRAIL] === "INTERVENED"))
      this.#isBlocked = true;
    for (const decoded of this.#decoder.decode(event))
      if (decoded.type === "message_stop") this.isOver = true;
      else if (decoded.type === "message_delta") this.#end = decoded;
      else yield decoded;
  }

  /** The mark may come with the last chunk. */
  *finish(): Generator<StreamEvent> {
    if (this.#end !== undefined)
      yield this.#isBlocked ? { ...this.#end, delta: { stop_reason: "refusal" } } : this.#end;
    yield { type: "message_stop" };
  }
}
