/**
 * A model that judges calls in place of the user, as the kernel needs it: what it is asked, and what its answer means.
 * `permit/` implements it; the kernel makes the calls to the model, for the judged process and on its account.
 */

import type { SystemPart, WireMessage } from "../../abi/llm.ts";
import type { AutoModeLists } from "../../abi/permit/auto-mode.ts";
import type { ContextMessage } from "../../abi/sys.ts";

export type ClassifierStage = "fast" | "thinking";

export interface JudgedCall {
  readonly tool: string;
  /** The arguments, as they were sent. */
  readonly input: string;
  /** The effects of the call in words, one each. */
  readonly effects: readonly string[];
}

export interface Judging {
  readonly messages: readonly ContextMessage[];
  /** Those of the messages that other agents have written in the user's role: what they started this one with. */
  readonly tasks: ReadonlySet<string>;
  /**
   * Calls permitted since the newest message, oldest first: a reply's calls enter the context only when all are over.
   */
  readonly since: readonly JudgedCall[];
  readonly pending: JudgedCall;
  /** The folders that the process works in, cwd first. */
  readonly roots: readonly string[];
  /** Approvals that the user gave in words. */
  readonly approved: readonly string[];
}

/** The requests of all stages differ only in their last words. */
export interface ClassifierRequest {
  readonly system: readonly SystemPart[];
  readonly messages: readonly WireMessage[];
  readonly maxOutputTokens: number;
  readonly stopSequences: readonly string[];
}

export interface ClassifierVerdict {
  readonly kind: "allow" | "block" | "ask";
  /** The reason, for the model and the user; "" if the classifier gave none. */
  readonly reason: string;
}

export interface Classifier {
  /** According to the current settings. */
  stages(): "both" | ClassifierStage;
  /** Whether it answers the questions of plan mode when that was entered from auto mode. */
  judgesPlan(): boolean;
  lists(): AutoModeLists;
  request(judging: Judging, stage: ClassifierStage): ClassifierRequest;
  /** Does a command do what the user approved in words? `allow`: that and nothing else. */
  meaning(judging: Judging): ClassifierRequest;
  verdict(text: string): ClassifierVerdict;
}
