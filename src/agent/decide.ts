/**
 * Decides what follows a reply. Pure: the loop acts on it. Calls decide whether to continue, never the stop reason
 * alone.
 */
import { codeOf, DriverError, Fault, messageOf } from "../abi/errors.ts";
import { type Block, type Reply, totalTokens } from "../abi/llm.ts";
import { LlmError } from "../abi/llm-error.ts";
import { EXIT, type ExitStatus } from "../abi/process.ts";
import type { AccountView } from "../abi/program.ts";

export type ToolCall = Extract<Block, { type: "tool_use" }>;

export interface TurnState {
  /** From 1; counts the replies that were not dropped. */
  readonly turn: number;
  /** 0: no limit. */
  readonly maxTurns: number;
  /** The output limit of the answered request, and the highest limit that another request could have. */
  readonly maxOutputTokens: number;
  readonly escalatedOutputTokens: number;
  readonly hasEscalated: boolean;
  readonly hasRetriedEmpty: boolean;
  /** Unread messages are queued. */
  readonly hasMail: boolean;
  /** The account after the reply was charged. */
  readonly account: AccountView;
  readonly device: string;
}

export type Continue =
  | { readonly reason: "next_turn"; readonly calls: readonly ToolCall[] }
  /** The run would end here, but messages have arrived meanwhile. */
  | { readonly reason: "mail" }
  | { readonly reason: "empty_reply_retry" }
  | { readonly reason: "max_output_tokens_escalate" };

export type Terminal =
  | { readonly reason: "completed" }
  /** The calls of the last turn are still executed. */
  | { readonly reason: "max_turns"; readonly calls: readonly ToolCall[] }
  /** `words`: the message of the refused model call. */
  | { readonly reason: "budget_exhausted"; readonly words?: string }
  | { readonly reason: "refusal"; readonly error: Error }
  /** The calls of several replies in a row were refused. */
  | { readonly reason: "denied"; readonly error: Error }
  | { readonly reason: "model_error"; readonly error: Error }
  /** The kernel knows the signal, and so the exit status. */
  | { readonly reason: "aborted" };

export function decide(state: TurnState, reply: Reply): Continue | Terminal {
  const { limit, used, asks } = state.account;
  if (limit > 0 && used >= limit && asks !== true) return { reason: "budget_exhausted" };
  if (reply.stopReason === "refusal") return { reason: "refusal", error: refused(state, reply) };
  if (reply.stopReason === "max_tokens" && canEscalate(state))
    return { reason: "max_output_tokens_escalate" };
  const calls = callsOf(reply.blocks);
  const isLast = state.maxTurns > 0 && state.turn >= state.maxTurns;
  if (calls.length > 0) return { reason: isLast ? "max_turns" : "next_turn", calls };
  if (reply.stopReason === "max_tokens") return { reason: "model_error", error: cutShort(state) };
  if (reply.stopReason === "model_context_window_exceeded")
    return { reason: "model_error", error: tooLong(state, reply) };
  if (textOf(reply.blocks).trim() === "" && !state.hasRetriedEmpty) return { reason: "empty_reply_retry" };
  return { reason: state.hasMail && !isLast ? "mail" : "completed" };
}

/** How a run ends after an error was thrown. Errors other than faults are bugs, and are thrown again. */
export function endOfFailure(error: unknown, isAborted: boolean): Terminal {
  if (isAborted) return { reason: "aborted" };
  if (!(error instanceof Fault)) throw error;
  if (codeOf(error) !== "BUDGET") return { reason: "model_error", error };
  return { reason: "budget_exhausted", words: error.message };
}

export function exitOf(end: Terminal): ExitStatus {
  switch (end.reason) {
    case "completed":
      return EXIT.completed;
    case "max_turns":
      return EXIT.maxSteps;
    case "budget_exhausted":
      return EXIT.budget;
    case "denied":
      // kind "done", like a limit: a restart would meet the same refusals
      return { code: 1, reason: messageOf(end.error), kind: "done", err: end.error };
    case "refusal":
    case "model_error":
      return {
        code: 1,
        reason: messageOf(end.error),
        kind: "fault",
        err: end.error,
      };
    case "aborted":
      return EXIT.sigterm;
  }
}

export function callsOf(blocks: readonly Block[]): ToolCall[] {
  return blocks.filter((block) => block.type === "tool_use");
}

export function textOf(blocks: readonly Block[]): string {
  return blocks
    .flatMap((block) => (block.type === "text" && block.text !== "" ? [block.text] : []))
    .join("\n");
}

function canEscalate(state: TurnState): boolean {
  return !state.hasEscalated && state.escalatedOutputTokens > state.maxOutputTokens;
}

function refused({ device }: TurnState, reply: Reply): LlmError {
  const said = textOf(reply.blocks).trim().split("\n", 1)[0]?.slice(0, 200) ?? "";
  const message = said === "" ? "the model refused to answer" : `the model refused to answer: ${said}`;
  return new LlmError({ kind: "refusal", message, device });
}

function cutShort({ device, maxOutputTokens }: TurnState): DriverError {
  return new DriverError({
    code: "DRIVER",
    op: "Read",
    message: `the reply was cut off at ${maxOutputTokens} output tokens`,
    device,
    hint: "ask for a shorter answer, or for one in parts",
  });
}

function tooLong({ device }: TurnState, reply: Reply): LlmError {
  return new LlmError({
    kind: "prompt_too_long",
    message: `the conversation fills the context window of ${reply.model} (${totalTokens(reply.usage)} tokens)`,
    device,
    hint: "start anew with a smaller task, or choose a model with a larger window",
  });
}
