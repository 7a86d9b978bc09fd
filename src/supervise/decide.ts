/** What becomes of a child that has exited: one pure function, its rows in the order of the reference. */
import { EXIT, type ExitStatus } from "../abi/process.ts";
import type { Restart, RestartDecision } from "../abi/supervise.ts";

export interface ExitFacts {
  /** The supervisor itself is stopping it. */
  readonly isStopping: boolean;
  /** A person, an ancestor or the supervisor sent the signal it died of. */
  readonly isOrdered: boolean;
  /** It did not start, for want of rights or budget: the next attempt would fare no better. */
  readonly isRefused: boolean;
  /** One more restart lies within the intensity. */
  readonly budgetLeft: boolean;
}

export function decide(restart: Restart, exit: ExitStatus, facts: ExitFacts): RestartDecision {
  if (facts.isStopping) return "none";
  if (restart === "temporary") return "drop";
  if (restart === "transient" && isDone(exit, facts)) return "drop";
  // repeating would only spend
  if (isOverBudget(exit) || facts.isRefused) return "escalate";
  return facts.budgetLeft ? "restart" : "escalate";
}

function isDone({ kind }: ExitStatus, { isOrdered }: ExitFacts): boolean {
  return kind === "done" || (kind === "killed" && isOrdered);
}

/** By its words too: a program of the host may exit 2 for reasons of its own. */
function isOverBudget({ code, reason }: ExitStatus): boolean {
  return code === EXIT.budget.code && reason === EXIT.budget.reason;
}
