/** Mode plan: what an agent asks for when its plan is ready, and what became of it. */
import type { PermissionMode } from "./process.ts";

/** What it wants to do without being asked once the plan is approved, in words: `run the tests`. */
export interface PlanPrompt {
  readonly tool: "bash";
  readonly prompt: string;
}

export interface PlanEntered {
  /** Where it is to write the plan. */
  readonly path: string;
}

export type PlanLeft =
  /** `plan`: as the person approved it. */
  | {
      readonly kind: "approved";
      readonly mode: PermissionMode;
      readonly plan: string;
      readonly wasEdited: boolean;
    }
  /** It goes on planning. */
  | { readonly kind: "rejected"; readonly words: string };

/** What is written to /dev/plan. */
export type PlanRequest =
  | { readonly op: "enter"; readonly reason: string }
  | { readonly op: "exit"; readonly prompts: readonly PlanPrompt[] };

/** What is read from it afterwards. */
export type PlanAnswer = PlanEntered | (PlanLeft & { readonly path: string });
