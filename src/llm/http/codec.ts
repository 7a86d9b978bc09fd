/** One interface of a vendor's server: how a request is spelled, and what its stream and its errors mean. */
import type { StreamEvent } from "../../abi/llm.ts";
import type { AttemptRequest } from "../driver.ts";
import type { Json } from "../json.ts";
import type { ErrorAnswer } from "./failure.ts";

export type ErrorWords = Omit<ErrorAnswer, "headers" | "status"> & { readonly status?: number };

export interface Codec {
  /** Below the base URL. */
  path(model: string): string;
  /** The body as JSON. `maxOutputTokens` must not exceed the limit of the model. */
  body(request: AttemptRequest, model: string, maxOutputTokens: number): string;
  /** For one reply of the model. */
  decoder(model: string): Decoder;
  /** What the body of a refusal says; `fallback`: its text, if it has no message. */
  refusal(body: Json, fallback: string): ErrorWords;
  /** The ids in the server's list of models, which is at `modelsPath`. */
  readonly modelsPath: string;
  modelIds(list: Json): readonly string[];
}

export interface Decoder {
  /** What the event says went wrong. */
  failure(event: Json): ErrorWords | undefined;
  /** Throws RangeError if an event contradicts earlier ones, or if what the model made cannot be used. */
  decode(event: Json): Iterable<StreamEvent>;
  /** Whether the last event has come, so that the end of the body need not be waited for. */
  readonly isOver: boolean;
  /** Whether the reply is complete if the body ends here. */
  readonly isFinished: boolean;
  /** The events that end the reply. */
  finish(): Iterable<StreamEvent>;
}
