/**
 * Decides whether and when a failed model call is retried. Pure: time and randomness are arguments. Drivers never retry
 * themselves.
 */
import { messageOf } from "../../abi/errors.ts";
import { type LlmErrorKind, RETRYABLE_KINDS } from "../../abi/llm.ts";
import { findLlmError, LlmError } from "../../abi/llm-error.ts";
import type { ApiRetry } from "../../abi/loop.ts";
import { HOPELESS_HINT, MAX_ASKED_AGAIN, malformedTooOften } from "./malformed.ts";

export const DEFAULT_MAX_RETRIES = 10;
const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 32_000;
/** The random share added or subtracted, so that processes that failed together do not retry together. */
const JITTER = 0.25;
/** If the server asks for a longer wait, the call fails, and the user decides. */
const MAX_RETRY_AFTER_MS = 300_000;
/** The limit if the server refuses the connection and never answered this process: it is probably not running. */
const MAX_RETRIES_NOBODY_THERE = 2;
/** So many overloads in a row, and a fallback model answers. */
const MAX_OVERLOADS = 3;

interface RetryState {
  /** The failed attempts of this request, including this one: from 1. */
  readonly failures: number;
  readonly maxRetries: number;
  /**
   * How many failures in a row, up to this one, were malformed replies with the same message; 0: this is another
   * failure.
   */
  readonly alike: number;
  /** How many failures in a row, up to this one, were overloads. */
  readonly overloads: number;
  /** Whether another model may answer in its place. */
  readonly hasFallback: boolean;
  /** Whether any request of this process was answered before. */
  readonly hasSucceeded: boolean;
  /** A random number, 0 … 1. */
  readonly random: number;
}

type RetryDecision =
  | { readonly kind: "wait"; readonly retry: ApiRetry }
  /** Another model is to answer. `error`: why this one does not. */
  | { readonly kind: "fallback"; readonly error: unknown; readonly cause: LlmErrorKind }
  | { readonly kind: "fail"; readonly error: unknown };

export function decideRetry(error: unknown, state: RetryState): RetryDecision {
  const fault = findLlmError(error);
  if (fault !== undefined && state.hasFallback && isNotToBeHad(fault, state))
    return { kind: "fallback", error, cause: fault.kind };
  if (fault === undefined || !isRetryable(fault)) return { kind: "fail", error };
  if (state.alike > MAX_ASKED_AGAIN)
    return { kind: "fail", error: alwaysMalformed(fault, messageOf(error), state.alike) };
  const maxRetries = isNobodyThere(fault, state)
    ? Math.min(MAX_RETRIES_NOBODY_THERE, state.maxRetries)
    : state.maxRetries;
  if (state.failures > maxRetries) return { kind: "fail", error };
  if ((fault.retryAfterMs ?? 0) > MAX_RETRY_AFTER_MS)
    return { kind: "fail", error: waitTooLong(fault, messageOf(error)) };
  const delayMs = fault.retryAfterMs ?? backoffMs(state.failures, state.random);
  return { kind: "wait", retry: { delayMs, ...factsOf(error, fault, { ...state, maxRetries }) } };
}

/** A malformed reply is counted by its mistake. */
function factsOf(error: unknown, fault: LlmError, state: RetryState): Omit<ApiRetry, "delayMs"> {
  const { kind: errorKind, status } = fault;
  const { alike, failures: attempt, maxRetries } = state;
  if (alike > 0)
    return {
      attempt: alike,
      maxRetries: Math.min(MAX_ASKED_AGAIN, maxRetries),
      errorKind,
      message: messageOf(error),
    };
  return { attempt, maxRetries, errorKind, ...(status === undefined ? {} : { status }) };
}

/** 500 ms, doubled for each further failure, at most 32 s; then ±25 %. */
export function backoffMs(failures: number, random: number): number {
  const delayMs = Math.min(FIRST_DELAY_MS * 2 ** (failures - 1), MAX_DELAY_MS);
  return Math.round(delayMs * (1 - JITTER + 2 * JITTER * random));
}

/** Whether this model will not answer soon, or at all. */
function isNotToBeHad({ kind }: LlmError, { overloads }: RetryState): boolean {
  return kind === "model_not_found" || (kind === "overloaded" && overloads >= MAX_OVERLOADS);
}

function isRetryable({ kind, shouldRetry }: LlmError): boolean {
  if (kind === "cancelled" || kind === "budget") return false;
  return shouldRetry ?? RETRYABLE_KINDS.has(kind);
}

function isNobodyThere(fault: LlmError, state: RetryState): boolean {
  if (state.hasSucceeded || fault.kind !== "connection") return false;
  for (let e: unknown = fault, depth = 0; e instanceof Error && depth < 8; e = e.cause, depth++) {
    if ("code" in e && (e.code === "ECONNREFUSED" || e.code === "ENOTFOUND")) return true;
    if (/ECONNREFUSED|ENOTFOUND|connection refused|refused the connection/i.test(e.message)) return true;
  }
  return false;
}

/** The message of the failure if the reply was malformed; undefined: the attempt failed otherwise. */
export function malformedWords(error: unknown): string | undefined {
  return findLlmError(error)?.kind === "stream_malformed" ? messageOf(error) : undefined;
}

/** `words`: the message of the system call's error, without secrets. */
function alwaysMalformed(fault: LlmError, words: string, times: number): LlmError {
  const { kind, device, status } = fault;
  const message = malformedTooOften(times, words);
  return new LlmError({ kind, message, device, status, hint: HOPELESS_HINT, cause: fault });
}

function waitTooLong(fault: LlmError, words: string): LlmError {
  const minutes = Math.ceil((fault.retryAfterMs ?? 0) / 60_000);
  return new LlmError({
    kind: fault.kind,
    message: `${words} (the server asks to wait ${minutes} min; at most 5 min are waited)`,
    device: fault.device,
    status: fault.status,
    retryAfterMs: fault.retryAfterMs,
    hint: `try again in ${minutes} min, or let another model answer (--fallback-model)`,
    cause: fault,
  });
}
