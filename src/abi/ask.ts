/**
 * Questions to the user, and their answers: of the gate (AskEvent in wire-events.ts), and of agents, in the same shape from
 * the tool that asks to the dialog that shows them.
 */

import type { RuleDestination } from "./rules.ts";
import type { Said, Sentence } from "./sentence.ts";

export interface AskAmount {
  readonly unit: "usd" | "tokens" | "steps";
  /** The amount as the user reads and writes it: `$2.00`, `50000 tokens`. */
  readonly offered: string;
}

export interface AskPart {
  readonly text: string;
  readonly behavior: "allow" | "ask" | "deny";
  readonly why: string;
  /** The same as a fact, where it is one. */
  readonly fact?: Sentence;
}

/** The sentences of a question, for clients that word them in another language. */
export interface AskFacts {
  readonly reason: readonly Said[];
  readonly warnings: readonly Said[];
  readonly sandbox?: Sentence;
}

export interface AskRule {
  readonly rule: string;
  readonly destinations: readonly RuleDestination[];
}

/** The answer of the user. */
export interface AskReply {
  readonly answer: AskAnswer;
  /** With "no": a message for the model. With "yes" to a reached limit: by how much to raise it; to a plan: the mode. */
  readonly words?: string;
  /** With "always": one of the suggested rules, or a narrower one; absent: the first of them. */
  readonly rule?: string;
  /** With "always"; absent: `session`. */
  readonly destination?: RuleDestination;
  /** With "yes" to questions of an agent: one answer for each. */
  readonly answers?: readonly QuestionAnswer[];
  /** With "yes": arguments that replace those of the call. They are checked again, as if the program had sent them. */
  readonly input?: Readonly<Record<string, unknown>>;
}
export type AskAnswer = "yes" | "no" | "always";

interface QuestionOption {
  readonly label: string;
  readonly description: string;
}

export interface QuestionItem {
  readonly question: string;
  /** At most 12 characters. */
  readonly header: string;
  /** 2 to 4 options; the user can always answer in their own words instead. */
  readonly options: readonly QuestionOption[];
  /** More than one option may be chosen. */
  readonly multi_select: boolean;
}

/** The answer to one question. */
export interface QuestionAnswer {
  /** The labels of the chosen options. */
  readonly chosen: readonly string[];
  /** The user's own words; "": none. */
  readonly text: string;
}

/** `dismissed`: the user declined to answer. `nobody`: no attached client could answer. */
export type QuestionOutcome =
  | { readonly kind: "answered"; readonly answers: readonly QuestionAnswer[] }
  | { readonly kind: "dismissed" }
  | { readonly kind: "nobody"; readonly reason: string };
