/** Plan mode for tools: entering it, and leaving it with a plan that the user approves. */
import type { Pid } from "../../abi/ids.ts";
import type { PlanEntered, PlanLeft, PlanPrompt, PlanVerdict } from "../../abi/permit/plan.ts";

export interface Plans {
  /** The host path of the plan of a process; null: it has no folder of its own, or there is no such process. */
  pathOf(pid: Pid): string | null;
  /** Asks the user. CONFLICT: it is in plan mode already. PERMISSION: the user refused, or nobody is attached. */
  enter(pid: Pid, reason: string, signal: AbortSignal): Promise<PlanEntered>;
  /**
   * Shows the plan to the user. CONFLICT: it is not in plan mode, or no longer when the answer came. INVALID: the plan
   * is empty or too long. PERMISSION: nobody is attached.
   */
  leave(pid: Pid, leaving: PlanLeaving, signal: AbortSignal): Promise<PlanLeft>;
  /** The lead of a team on the plan of a member. NOT_FOUND: it is none of its members; CONFLICT: no such request waits. */
  answer(by: Pid, verdict: PlanVerdict): Promise<void>;
}

export interface PlanLeaving {
  /** The plan as it is on disk. */
  readonly plan: string;
  readonly prompts: readonly PlanPrompt[];
}
