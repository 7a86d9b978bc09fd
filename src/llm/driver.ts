/**
 * The interface of every model driver. A driver converts the request, calls the server, converts the reply and maps
 * failures to kinds. It never retries, never asks the user, and logs no bodies. Before `stream`, the request has been
 * parsed, allowed and its budget reserved.
 */
import type { Caller } from "../abi/device.ts";
import type { LaneReadings } from "../abi/lanes.ts";
import type { LlmRequest, ModelCard, StreamEvent, Usage } from "../abi/llm.ts";
import type { LlmError } from "../abi/llm-error.ts";
import type { OwnModel } from "./own-models.ts";

export type Check = { ok: true } | { ok: false; error: LlmError; hint: string };

export interface Driver {
  /** The name below /dev/llm. */
  readonly name: string;
  /** True if there is no model behind the driver: its replies cost no tokens, and none are estimated or reserved. */
  readonly countsNothing?: true;
  /** Called before the first request of a file: throws an error that would make every request fail. */
  prepare?(): Promise<void>;
  /** The models that the server offers; absent: it cannot list them. */
  models?(signal: AbortSignal): Promise<ModelCard[]>;
  /** Pure. "" is the driver's default model; unknown ids get the driver's default limits and `known: false`. */
  card(model: string): ModelCard;
  /** The cost of a reply in US dollars; null: the price is unknown. */
  cost(model: string, usage: Usage): number | null;
  /**
   * Runs one attempt, up to message_stop. Throws LlmError; if `signal` aborts, of kind `cancelled`. Ending the
   * iteration early ends the attempt: its sockets and children are gone when `return()` resolves.
   */
  stream(request: AttemptRequest, signal: AbortSignal): AsyncIterable<StreamEvent>;
  check(signal: AbortSignal): Promise<Check>;
  /** Frees resources that outlive an attempt. Idempotent. */
  close(): Promise<void>;
}

/** A request as a driver receives it. `metadata.agent` is the agent's name, if the caller gave it. */
export interface AttemptRequest extends LlmRequest {
  metadata?: { agent?: string };
  /** The uuid of the calling process: its requests share a prefix, which some vendors cache by such a key. */
  process?: string;
  /** How long a server that is told what to cache keeps it; off: it is told nothing. Absent: 5m. */
  cacheTtl?: CacheTtl;
  /** What the user's settings say of the model. */
  own?: OwnModel;
  /** Tells the user what they should know of the attempt, which goes on. */
  warn?: (message: string) => void;
  /** Told what the server says of its limits, with each answer. */
  limited?: (readings: LaneReadings) => void;
}

export type CacheTtl = "5m" | "1h" | "off";

/** What a driver may depend on. Credentials come from the caller's `env`, never from the daemon's environment. */
export type DriverCaller = Pick<Caller, "pid" | "uuid" | "cwd" | "env" | "signal" | "killed">;
