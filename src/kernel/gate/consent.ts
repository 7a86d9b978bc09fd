/** What the gate asks about the user's consent; consent/ implements it. */
import type { Effect } from "../../abi/effects.ts";
import type { Inflow } from "../labels/inflow.ts";
import type { Decision } from "../ports/permit.ts";
import type { AskDecision } from "./describe.ts";
import type { Passage } from "./passage.ts";
import type { Scope } from "./scope.ts";

/** The user's answer to a question. */
export type AskOutcome =
  | { readonly is: "yes" }
  /** `words`: the user's message for the model. */
  | { readonly is: "no"; readonly words: string }
  /** Yes, with changed arguments. */
  | { readonly is: "edited"; readonly input: Readonly<Record<string, unknown>> }
  /** Yes, but a path leads elsewhere by now. */
  | { readonly is: "moved" }
  | { readonly is: "unanswered"; readonly why: string };

/** What a permitted call may bring into the process. */
export interface Intake {
  /** Whether the user or a rule permitted reading a secret; the labels of what the call reads. */
  readonly scope: Pick<Scope, "isSecret" | "inflow">;
  /** Called after the act: resolves when the labels of what it wrote are recorded. */
  readonly kept: () => Promise<void>;
}

export interface Consent {
  /** Asks the classifier where it may answer. null: allowed. Otherwise a denial, or still a question for the user. */
  judge(passage: Passage, decision: AskDecision): Promise<Exclude<Decision, { behavior: "allow" }> | null>;
  /** Notes that the call was permitted: the classifier sees it with the next call it judges. */
  passed(passage: Passage): void;
  /** Waits for the user's answer. Rejects when the call is cancelled. */
  ask(passage: Passage, decision: AskDecision): Promise<AskOutcome>;
  intake(passage: Passage): Promise<Intake>;
  /** The inflow of a call made by a program within its own call: limited to what that inner call reads. */
  partOfInflow(passage: Passage, effects: readonly Effect[]): Inflow | undefined;
}
