/** A reply of Claude as the platforms of the clouds stream it: the events are those of its vendor. */
import type { StreamEvent } from "../../abi/llm.ts";
import type { Decoder, ErrorWords } from "../http/codec.ts";
import type { Json } from "../json.ts";
import { MessagesDecoder } from "./events.ts";

export class ClaudeStream implements Decoder {
  readonly #decoder = new MessagesDecoder();
  readonly #failure: (event: Json) => ErrorWords | undefined;
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
    for (const decoded of this.#decoder.decode(event))
      if (decoded.type === "message_stop") this.isOver = true;
      else yield decoded;
  }

  *finish(): Generator<StreamEvent> {
    yield { type: "message_stop" };
  }
}
