/**
 * What every model driver implements. A driver converts, calls, converts back and maps failures to kinds. It never
 * retries, never asks, logs no bodies. Before `stream`, the request has been parsed, permitted and reserved.
 */
import type { Caller } from "../abi/device.ts";
import type { LlmRequest, ModelCard, StreamEvent, Usage } from "../abi/llm.ts";
import type { LlmError } from "../abi/llm-error.ts";

export type Check = { ok: true } | { ok: false; error: LlmError; hint: string };

export interface Driver {
  /** Mounted at /dev/llm/<name>. */
  readonly name: string;
  /** No model stands behind it: its replies count no tokens, none are estimated or set aside. */
  readonly countsNothing?: true;
  /** Before the first request of a file: throws what would make every request fail. */
  prepare?(): Promise<void>;
  /** What the server offers; absent: it cannot list. */
  models?(signal: AbortSignal): Promise<ModelCard[]>;
  /** Pure. "" is the driver's default; unknown ids get the driver's defaults and `known: false`. */
  card(model: string): ModelCard;
  /** What a reply cost in US dollars; null: the price is not known. */
  cost(model: string, usage: Usage): number | null;
  /**
   * One attempt, up to message_stop. Throws LlmError; abort of `signal` is kind `cancelled`. Ending the iteration early
   * ends the attempt: sockets and children are gone when `return()` resolves.
   */
  stream(request: AttemptRequest, signal: AbortSignal): AsyncIterable<StreamEvent>;
  check(signal: AbortSignal): Promise<Check>;
  /** Frees what outlives an attempt. Idempotent. */
  close(): Promise<void>;
}

/** A request as a driver gets it. `metadata.agent` is the agent's name where the caller told it. */
export interface AttemptRequest extends LlmRequest {
  metadata?: { agent?: string };
}

/** Of the caller, what a driver may depend on. Credentials come from `env`, never from the daemon's environment. */
export type DriverCaller = Pick<Caller, "pid" | "uuid" | "cwd" | "env" | "signal" | "killed">;
