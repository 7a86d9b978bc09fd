/** Plan mode: what an agent requests when its plan is ready, and the outcome. */
import type { Pid } from "../ids.ts";
import type { PermissionMode } from "../process.ts";

/** An action, in words, that the agent wants to take without approval once the plan is approved: `run the tests`. */
export interface PlanPrompt {
  readonly tool: "bash";
  readonly prompt: string;
}

export interface PlanEntered {
  /** Where the agent must write the plan. */
  readonly path: string;
}

export type PlanLeft =
  /** `plan`: the plan as the user approved it. */
  | {
      readonly kind: "approved";
      readonly mode: PermissionMode;
      readonly plan: string;
      readonly wasEdited: boolean;
    }
  /** The agent stays in plan mode. */
  | { readonly kind: "rejected"; readonly words: string }
  /** A member of a team: its lead answers by a message. */
  | { readonly kind: "asked"; readonly requestId: string };

/** What a lead says of the plan of a member. */
export interface PlanVerdict {
  readonly pid: Pid;
  readonly requestId: string;
  readonly approve: boolean;
  readonly feedback?: string;
}

/** A request written to /dev/plan. */
export type PlanRequest =
  | { readonly op: "enter"; readonly reason: string }
  | { readonly op: "exit"; readonly prompts: readonly PlanPrompt[] }
  | ({ readonly op: "answer" } & PlanVerdict);

/** The answer read from /dev/plan. */
export type PlanAnswer = PlanEntered | (PlanLeft & { readonly path: string }) | { readonly kind: "answered" };
