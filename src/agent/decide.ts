/**
 * Decides what follows a reply. Pure: the loop acts on it. Calls decide whether to continue, never the stop reason
 * alone.
 */
import { codeOf, DriverError, Fault } from "../abi/errors.ts";
import { type Block, type Reply, totalTokens } from "../abi/llm.ts";
import { LlmError } from "../abi/llm-error.ts";
import type { Continue, Terminal, ToolCall } from "../abi/loop.ts";
import type { AccountView } from "../abi/program.ts";

/** What a run is doing: it waits for the model, or runs the calls of a reply. */
export type Phase = "streaming" | "tools";

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

type Decision =
  | Terminal
  | Extract<Continue, { reason: "next_turn" | "mail" | "empty_reply_retry" | "max_output_tokens_escalate" }>;

export function decide(state: TurnState, reply: Reply): Decision {
  const { limit, used, asks } = state.account;
  if (limit > 0 && used >= limit && asks !== true) return { reason: "budget_exhausted" };
  if (reply.stopReason === "refusal") return { reason: "model_error", error: refused(state, reply) };
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

/** How a run ends after an error was thrown; `aborted`: in which phase it was aborted, if it was. Errors other than faults are bugs, and are thrown again. */
export function endOfFailure(error: unknown, aborted: Phase | null): Terminal {
  if (aborted !== null) return { reason: `aborted_${aborted}` };
  if (!(error instanceof Fault)) throw error;
  if (codeOf(error) !== "BUDGET") return { reason: "model_error", error };
  return { reason: "budget_exhausted", words: error.message };
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
