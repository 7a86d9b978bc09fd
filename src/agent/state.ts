/** The state of a run: one record, replaced whole each time the loop continues. Pure. */
import type { Reply } from "../abi/llm.ts";
import type { Continue } from "../abi/loop.ts";
import { type Malformed, NOT_MALFORMED } from "./model/malformed.ts";
import { NO_REFUSALS, type Refusals } from "./refusals.ts";
import { advanced, type TokenTarget } from "./token-target.ts";

export interface LoopState {
  /** Steps that were begun. */
  readonly turn: number;
  /** Requests that were answered, over all runs of the process. */
  readonly requests: number;
  readonly hasEscalated: boolean;
  /** The last reply was empty, and is asked for again. */
  readonly hasRetriedEmpty: boolean;
  /** Pieces of the reply of this step that were cut off at the output limit. */
  readonly recoveries: number;
  /** Pieces of the reply of this step after which the provider paused. */
  readonly pauses: number;
  /** Replies in a row that broke off after a call had begun. */
  readonly salvages: number;
  /** The model that answers: 0: of the process; n: its nth fallback. */
  readonly model: number;
  readonly refusals: Refusals;
  readonly malformed: Malformed;
  /** How much the user wants it to write; null: as much as it likes. */
  readonly target: TokenTarget | null;
  /** Why the model is asked again; null: the run begins, or was restored. */
  readonly transition: Continue["reason"] | null;
}

/** The state in which a run begins. `requests`: of the process so far. */
export function freshState(requests: number, target: TokenTarget | null = null): LoopState {
  return {
    turn: 0,
    requests,
    hasEscalated: false,
    hasRetriedEmpty: false,
    recoveries: 0,
    pauses: 0,
    salvages: 0,
    model: 0,
    refusals: NO_REFUSALS,
    malformed: NOT_MALFORMED,
    target,
    transition: null,
  };
}

/** The state after a decision to continue. `reply`: what was decided on. */
export function continued(state: LoopState, next: Continue, reply?: Reply): LoopState {
  const target = advanced(state.target, next, reply);
  const after = { ...state, target, transition: next.reason };
  switch (next.reason) {
    case "next_turn":
    case "mail":
    case "token_budget_continuation":
      return { ...after, hasRetriedEmpty: false, recoveries: 0, pauses: 0, salvages: 0 };
    case "reply_salvaged":
      return { ...after, hasRetriedEmpty: false, recoveries: 0, pauses: 0, salvages: state.salvages + 1 };
    case "max_output_tokens_escalate":
      return { ...after, hasEscalated: true };
    case "max_output_tokens_recovery":
      return { ...after, hasRetriedEmpty: false, recoveries: next.attempt };
    case "pause_turn":
      return { ...after, hasRetriedEmpty: false, pauses: next.inRow };
    case "fallback_retry":
      return { ...after, model: next.index };
    case "empty_reply_retry":
      return { ...after, hasRetriedEmpty: true };
    case "collapse_drain_retry":
    case "reactive_compact_retry":
    case "stop_hook_blocking":
      return after;
  }
}

/** The pieces of the reply in progress that are in the context already. */
export function piecesOf({ recoveries, pauses }: Pick<LoopState, "recoveries" | "pauses">): number {
  return recoveries + pauses;
}
