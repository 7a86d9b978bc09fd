/** Mode plan as tools reach it: into it, and out of it with a plan that a person approves. */
import type { Pid } from "../../abi/ids.ts";
import type { PlanEntered, PlanLeft, PlanPrompt } from "../../abi/plan.ts";

export interface Plans {
  /** Where the process keeps its plan, on the host; null: it has no folder of its own, or there is no such process. */
  pathOf(pid: Pid): string | null;
  /** Asks a person. CONFLICT: it is planning already. PERMISSION: the person said no, or there is none. */
  enter(pid: Pid, reason: string, signal: AbortSignal): Promise<PlanEntered>;
  /**
   * Shows the plan to a person. CONFLICT: it is not planning, or no more when the answer came. INVALID: the plan is empty or too
   * long. PERMISSION: nobody is there.
   */
  leave(pid: Pid, leaving: PlanLeaving, signal: AbortSignal): Promise<PlanLeft>;
}

export interface PlanLeaving {
  /** As it is on disk. */
  readonly plan: string;
  readonly prompts: readonly PlanPrompt[];
}
