/**
 * Decides what follows a reply. Pure: the loop acts on it. Calls decide whether to continue, never the stop reason
 * alone.
 */
import { codeOf, DriverError, Fault } from "../abi/errors.ts";
import { isBadInput, type Reply, totalTokens } from "../abi/llm.ts";
import { findLlmError, LlmError, REFUSAL_HINT } from "../abi/llm-error.ts";
import { CONTINUES, type Continue, type Terminal } from "../abi/loop.ts";
import type { AccountView } from "../abi/program.ts";
import type { Broken } from "./checkpoint.ts";
import { callsOf, textOf } from "./model/blocks.ts";
import type { LoopState } from "./state.ts";
import { continuation } from "./token-target.ts";

/** What a run is doing: it waits for the model, or runs the calls of a reply. */
export type Phase = "streaming" | "tools";

/** What a decision needs to know beside the state of the run. */
export interface TurnFacts {
  /** 0: no limit. */
  readonly maxTurns: number;
  /** The output limit of the answered request, and the highest limit that another request could have. */
  readonly maxOutputTokens: number;
  readonly escalatedOutputTokens: number;
  /** Unread messages are queued. */
  readonly hasMail: boolean;
  /** The account after the reply was charged. */
  readonly account: AccountView;
  readonly device: string;
  /** Why the rest of the reply did not come. */
  readonly broken?: Broken | undefined;
}

/** What follows from a reply; the other ways to continue follow from failures, hooks and the size of the context. */
type Decision =
  | Terminal
  | Extract<
      Continue,
      {
        reason:
          | "next_turn"
          | "reply_salvaged"
          | "mail"
          | "token_budget_continuation"
          | "empty_reply_retry"
          | "pause_turn"
          | "max_output_tokens_escalate"
          | "max_output_tokens_recovery";
      }
    >;

export function decide(state: LoopState, facts: TurnFacts, reply: Reply): Decision {
  const { limit, used, asks } = facts.account;
  const { device } = facts;
  if (limit > 0 && used >= limit && asks !== true) return { reason: "budget_exhausted" };
  if (reply.stopReason === "refusal") return { reason: "model_error", error: refused(device, reply) };
  if (reply.stopReason === "max_tokens" && canEscalate(state, facts))
    return { reason: "max_output_tokens_escalate" };
  const calls = callsOf(reply.blocks);
  const isLast = facts.maxTurns > 0 && state.turn >= facts.maxTurns;
  if (calls.length > 0 && isLast) return { reason: "max_turns", calls };
  if (facts.broken !== undefined) return afterBreak(state, facts.broken, facts, reply);
  if (calls.length > 0) return { reason: "next_turn", calls };
  if (reply.stopReason === "max_tokens") return afterCut(state, facts);
  if (reply.stopReason === "model_context_window_exceeded")
    return { reason: "prompt_too_long", error: tooLong(device, reply) };
  if (textOf(reply.blocks).trim() === "") return afterEmpty(state, facts, isLast);
  if (reply.stopReason === "pause_turn") return afterPause(state, device);
  if (isLast) return { reason: "completed" };
  return facts.hasMail ? { reason: "mail" } : (continuation(state.target, reply) ?? { reason: "completed" });
}

/** The stream broke after a call had begun. */
function afterBreak(
  { salvages }: LoopState,
  { kind, words }: Broken,
  { device }: TurnFacts,
  { blocks }: Reply,
): Decision {
  if (salvages < CONTINUES.reply_salvaged.most)
    return { reason: "reply_salvaged", blocks: blocks.length, kind };
  const message = `the reply broke off ${salvages + 1} times in a row: ${words}`;
  return { reason: "model_error", error: new LlmError({ kind, message, device }) };
}

/** The reply was cut off, without a call, and a higher limit is not to be had. */
function afterCut({ recoveries }: LoopState, { device, maxOutputTokens }: TurnFacts): Decision {
  if (recoveries < CONTINUES.max_output_tokens_recovery.most)
    return { reason: "max_output_tokens_recovery", attempt: recoveries + 1 };
  return { reason: "model_error", error: cutShort(device, maxOutputTokens) };
}

/** A pause with thoughts alone is a reply without words: sent again, it could not be continued. */
function afterPause({ pauses }: LoopState, device: string): Decision {
  if (pauses < CONTINUES.pause_turn.most) return { reason: "pause_turn", inRow: pauses + 1 };
  const message = `the provider paused the reply ${pauses + 1} times in a row`;
  return { reason: "model_error", error: failed(device, message, "ask for a smaller task") };
}

/** A run without an answer is not completed; but new messages may bring one. */
function afterEmpty(
  { hasRetriedEmpty }: LoopState,
  { hasMail, device }: TurnFacts,
  isLast: boolean,
): Decision {
  if (!hasRetriedEmpty) return { reason: "empty_reply_retry" };
  if (hasMail && !isLast) return { reason: "mail" };
  const message = "the model answered twice in a row without a word and without a call";
  return { reason: "model_error", error: failed(device, message, "ask again, or try another model (-m)") };
}

/** How a run ends after an error was thrown; `aborted`: in which phase it was aborted, if it was. Errors other than faults are bugs, and are thrown again. */
export function endOfFailure(error: unknown, aborted: Phase | null): Terminal {
  if (aborted !== null) return { reason: `aborted_${aborted}` };
  if (!(error instanceof Fault)) throw error;
  const kind = findLlmError(error)?.kind;
  // nothing can be left out any more
  if (kind === "prompt_too_long") return { reason: "prompt_too_long", error };
  if (kind === "media") return { reason: "image_error", error };
  if (codeOf(error) !== "BUDGET") return { reason: "model_error", error };
  return { reason: "budget_exhausted", words: error.message };
}

/** The index of the call at which the reply was cut off; its arguments are not whole. */
export function unfinishedCall({ stopReason, blocks }: Reply): number | undefined {
  const last = blocks.at(-1);
  if (stopReason !== "max_tokens" || last?.type !== "tool_use") return undefined;
  const { input } = last;
  const isBare = typeof input === "object" && input !== null && Object.keys(input).length === 0;
  return isBadInput(input) || isBare ? callsOf(blocks).length - 1 : undefined;
}

function canEscalate(state: LoopState, facts: TurnFacts): boolean {
  return !state.hasEscalated && facts.escalatedOutputTokens > facts.maxOutputTokens;
}

function refused(device: string, reply: Reply): LlmError {
  const said = textOf(reply.blocks).trim().split("\n", 1)[0]?.slice(0, 200) ?? "";
  const message = said === "" ? "the model refused to answer" : `the model refused to answer: ${said}`;
  return new LlmError({ kind: "refusal", message, device, hint: REFUSAL_HINT });
}

function cutShort(device: string, maxOutputTokens: number): DriverError {
  const message = `the reply was cut off at ${maxOutputTokens} output tokens`;
  return failed(device, message, "ask for a shorter answer, or for one in parts");
}

function failed(device: string, message: string, hint: string): DriverError {
  return new DriverError({ code: "DRIVER", op: "Read", message, device, hint });
}

function tooLong(device: string, reply: Reply): LlmError {
  return new LlmError({
    kind: "prompt_too_long",
    message: `the conversation fills the context window of ${reply.model} (${totalTokens(reply.usage)} tokens)`,
    device,
    hint: "start anew with a smaller task, or choose a model with a larger window",
  });
}
