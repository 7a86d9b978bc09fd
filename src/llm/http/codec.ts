/** One interface of a vendor's server: how a request is spelled, and what its stream and its errors mean. */
import type { StreamEvent, Usage } from "../../abi/llm.ts";
import type { AttemptRequest } from "../driver.ts";
import type { Json } from "../json.ts";
import type { Body } from "./client.ts";
import type { ErrorAnswer } from "./failure.ts";

export type ErrorWords = Omit<ErrorAnswer, "headers" | "status"> & { readonly status?: number };

/** A GET of a path below the base URL, or a POST of JSON to it. */
export type Ask = (path: string, json?: string) => Promise<Json>;

/** What a server says of one of its models. */
export interface ModelFacts {
  /** Input and output together, in tokens. */
  readonly window?: number;
  readonly hasTools?: boolean;
  readonly thinks?: boolean;
}

export interface Limits {
  /** Not above the limit of the model. */
  readonly maxOutputTokens: number;
  readonly facts: ModelFacts;
}

export interface Codec {
  /** Below the base URL. `isWhole`: one complete answer is asked for in place of a stream. */
  path(model: string, isWhole: boolean): string;
  /** The body as JSON. Throws LlmError for a request that the server would not answer as it is meant. */
  body(request: AttemptRequest, model: string, limits: Limits): string;
  /** A complete answer as the events of its stream. */
  whole(answer: Json): Iterable<Json>;
  /** The events in the body of a reply, as JSON; absent: it is a stream of server-sent events. */
  readonly frames?: (body: Body) => AsyncIterable<string>;
  /** Asks the server of the user's own about a model, once; absent: nothing is known but what is published. */
  readonly facts?: (ask: Ask, model: string) => Promise<ModelFacts>;
  /** For one reply of the model. */
  decoder(model: string): Decoder;
  /** What the user should know of a reply, by its usage. */
  readonly remark?: (request: AttemptRequest, usage: Usage) => string | undefined;
  /** What the body of a refusal says; `fallback`: its text, if it has no message. */
  refusal(body: Json, fallback: string, status: number): ErrorWords;
  /** Where the server lists its models, and their ids in that list; absent: it has none. */
  readonly models?: { readonly path: string; ids(list: Json): readonly string[] };
  /** What is asked to see whether the server answers; absent: for the list of models. */
  readonly check?: (model: string) => { readonly path: string; readonly json: string };
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
