/** One of the interfaces of OpenAI's servers: how a request is spelled, and what its stream means. */
import type { StreamEvent } from "../../abi/llm.ts";
import type { AttemptRequest } from "../driver.ts";
import type { ErrorAnswer } from "../http/failure.ts";
import type { Json } from "../json.ts";

export type ErrorWords = Pick<ErrorAnswer, "type" | "code" | "message">;

export interface Codec {
  /** Below the base URL. */
  readonly path: string;
  /** The body as JSON. `maxOutputTokens` must not exceed the limit of the model. */
  body(request: AttemptRequest, model: string, maxOutputTokens: number): string;
  /** For one reply of the model. */
  decoder(model: string): Decoder;
}

export interface Decoder {
  /** What the event says went wrong. */
  failure(event: Json): ErrorWords | undefined;
  /** Throws RangeError if an event contradicts earlier ones. */
  decode(event: Json): Iterable<StreamEvent>;
  /** Whether the last event has come, so that the end of the body need not be waited for. */
  readonly isOver: boolean;
  /** Whether the reply is complete if the body ends here. */
  readonly isFinished: boolean;
  /** The events that end the reply. */
  finish(): Iterable<StreamEvent>;
}
