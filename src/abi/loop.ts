/**
 * How an agent's loop goes on after a turn, and how a run ends: two closed unions, and one table for each. A case without
 * its row, or a row without its case, does not compile.
 */
import type { Block, LlmErrorKind } from "./llm.ts";
import { EXIT, type ExitStatus, type RunOutcome } from "./process.ts";

export type ToolCall = Extract<Block, { type: "tool_use" }>;

/** A model and the device that has it. `model` "": the driver's default. */
export interface ModelPlace {
  readonly device: string;
  readonly model: string;
}

/** A failed model call will be sent again. */
export interface ApiRetry {
  /** From 1. */
  readonly attempt: number;
  readonly maxRetries: number;
  readonly delayMs: number;
  readonly errorKind: LlmErrorKind;
  /** The HTTP status, if there was one. */
  readonly status?: number;
  /** What was wrong with a malformed reply. */
  readonly message?: string;
}

/** Another model answers for the rest of the run. */
export interface ModelSwitch {
  readonly from: ModelPlace;
  readonly to: ModelPlace;
  /** `user`: the user has chosen it, and it answers from now on. */
  readonly cause: LlmErrorKind | "user";
}

/** Why the loop asks the model once more. */
export type Continue =
  | { readonly reason: "next_turn"; readonly calls: readonly ToolCall[] }
  /** The run would end here, but messages have arrived meanwhile. */
  | { readonly reason: "mail" }
  /** The reply was cut off: it is dropped, and asked for with the highest output limit. */
  | { readonly reason: "max_output_tokens_escalate" }
  /** Cut off again: its text is kept, and the model is told to resume. `attempt`: from 1. */
  | { readonly reason: "max_output_tokens_recovery"; readonly attempt: number }
  | { readonly reason: "collapse_drain_retry"; readonly committed: number }
  | { readonly reason: "reactive_compact_retry" }
  /** The stream broke after a tool had started: its finished blocks are the reply. */
  | { readonly reason: "reply_salvaged"; readonly blocks: number; readonly kind: LlmErrorKind }
  /** `index`: the place of `to` among the fallbacks, from 1. */
  | (ModelSwitch & { readonly reason: "fallback_retry"; readonly index: number })
  | { readonly reason: "stop_hook_blocking"; readonly errors: readonly string[] }
  | { readonly reason: "token_budget_continuation"; readonly outputTokens: number }
  /** The provider paused the turn; its blocks are kept and sent again. */
  | { readonly reason: "pause_turn"; readonly inRow: number }
  | { readonly reason: "empty_reply_retry" };

/** Why a run ends. */
export type Terminal =
  | { readonly reason: "completed" }
  | { readonly reason: "model_error"; readonly error: Error }
  | { readonly reason: "image_error"; readonly error: Error }
  /** The calls of the last turn are still executed. */
  | { readonly reason: "max_turns"; readonly calls: readonly ToolCall[] }
  /** `words`: the message of the refused model call. */
  | { readonly reason: "budget_exhausted"; readonly words?: string }
  | { readonly reason: "blocking_limit"; readonly error: Error }
  | { readonly reason: "prompt_too_long"; readonly error: Error }
  | { readonly reason: "stop_hook_prevented"; readonly error: Error }
  | { readonly reason: "hook_stopped"; readonly error: Error }
  | { readonly reason: "structured_output_failed"; readonly error: Error }
  /** The calls of several replies in a row were refused. */
  | { readonly reason: "denied"; readonly error: Error }
  /** Decided by the kernel, which ends the process; the loop only sees that it is ended. */
  | { readonly reason: "deadline" }
  /** The kernel knows the signal, and so the exit status. */
  | { readonly reason: "aborted_streaming" }
  | { readonly reason: "aborted_tools" };

/** How often the loop continues for one reason; `per`: over the whole run, or in a row. */
interface Bound {
  readonly most: number;
  readonly per: "run" | "row";
}

/** null: bounded elsewhere, by the step limit, the messages, the listed models or the hooks. */
export const CONTINUES = {
  next_turn: null,
  mail: null,
  max_output_tokens_escalate: { most: 1, per: "run" },
  max_output_tokens_recovery: { most: 3, per: "row" },
  collapse_drain_retry: { most: 1, per: "row" },
  reactive_compact_retry: { most: 1, per: "row" },
  reply_salvaged: { most: 3, per: "row" },
  fallback_retry: null,
  stop_hook_blocking: { most: 8, per: "row" },
  token_budget_continuation: null,
  pause_turn: { most: 8, per: "row" },
  empty_reply_retry: { most: 1, per: "row" },
} as const satisfies Record<Continue["reason"], Bound | null>;

interface End {
  /** How clients and the queue of messages see it. */
  readonly outcome: RunOutcome;
  readonly code: number;
  /** null: the message of the error. */
  readonly reason: string | null;
  readonly kind: ExitStatus["kind"];
}

/** The exit status of each end. Kind `fault` may be restarted; a restart after a limit would only cost more. */
export const ENDS = {
  completed: { outcome: "completed", ...EXIT.completed },
  model_error: { outcome: "failed", code: 1, reason: null, kind: "fault" },
  image_error: { outcome: "failed", code: 1, reason: null, kind: "done" },
  max_turns: { outcome: "limit", ...EXIT.maxSteps },
  budget_exhausted: { outcome: "limit", ...EXIT.budget },
  blocking_limit: { outcome: "limit", code: 1, reason: "blocking_limit", kind: "done" },
  prompt_too_long: { outcome: "failed", code: 1, reason: "prompt_too_long", kind: "done" },
  stop_hook_prevented: { outcome: "failed", code: 1, reason: "stop_hook_prevented", kind: "done" },
  hook_stopped: { outcome: "failed", code: 1, reason: "hook_stopped", kind: "done" },
  structured_output_failed: { outcome: "failed", code: 1, reason: "structured_output_failed", kind: "done" },
  denied: { outcome: "failed", code: 1, reason: null, kind: "done" },
  deadline: { outcome: "interrupted", ...EXIT.timeout },
  aborted_streaming: { outcome: "interrupted", ...EXIT.sigterm },
  aborted_tools: { outcome: "interrupted", ...EXIT.sigterm },
} as const satisfies Record<Terminal["reason"], End>;

export function isTerminal(decision: Continue | Terminal): decision is Terminal {
  return Object.hasOwn(ENDS, decision.reason);
}

export function exitOf(end: Terminal): ExitStatus {
  const { code, reason, kind }: End = ENDS[end.reason];
  const err = "error" in end ? end.error : undefined;
  return { code, reason: reason ?? err?.message ?? end.reason, kind, ...(err === undefined ? {} : { err }) };
}
