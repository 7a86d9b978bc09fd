/** What the gate asks of those who know whether a person said so; consent/ answers. */
import type { Effect } from "../../abi/effects.ts";
import type { Inflow } from "../labels/inflow.ts";
import type { Decision } from "../ports/permit.ts";
import type { AskDecision } from "./describe.ts";
import type { Passage } from "./passage.ts";
import type { Scope } from "./scope.ts";

/** What a person made of a question. */
export type Said =
  | { readonly is: "yes" }
  /** `words`: for the model. */
  | { readonly is: "no"; readonly words: string }
  /** Yes, with other arguments. */
  | { readonly is: "edited"; readonly input: Readonly<Record<string, unknown>> }
  /** Yes to what is not so any more: a path leads elsewhere. */
  | { readonly is: "moved" }
  | { readonly is: "unanswered"; readonly why: string };

/** What a permitted call may bring in. */
export interface Intake {
  /** Whether a person, or a rule, let it read a secret; the labels of what it reads. */
  readonly scope: Pick<Scope, "isSecret" | "inflow">;
  /** After the act: what it wrote is on record. */
  readonly kept: () => Promise<void>;
}

export interface Consent {
  /** By a model, where one may. null: it may run. Else what is denied, or still a person's question. */
  judge(passage: Passage, decision: AskDecision): Promise<Exclude<Decision, { behavior: "allow" }> | null>;
  /** It was let through: what a model judges next is seen after it. */
  passed(passage: Passage): void;
  /** Waits for a person. Rejects when the call is given up. */
  ask(passage: Passage, decision: AskDecision): Promise<Said>;
  intake(passage: Passage): Promise<Intake>;
  /** Of a call within one, by the program that it runs: only what that reads has come. */
  partOfInflow(passage: Passage, effects: readonly Effect[]): Inflow | undefined;
}
