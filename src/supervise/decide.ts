/** Decides what happens to a child that has exited. Pure; the rules are in the order of the reference manual. */
import { EXIT, type ExitStatus, isLost } from "../abi/process.ts";
import type { Restart, RestartDecision } from "../abi/supervise.ts";

export interface ExitFacts {
  /** The supervisor itself is stopping it. */
  readonly isStopping: boolean;
  /** The user, an ancestor or the supervisor sent the signal that ended it, whatever exit code a program made of it. */
  readonly isOrdered: boolean;
  /** It did not start for lack of rights or budget: the next attempt would fail, too. */
  readonly isRefused: boolean;
  /** One more restart lies within the intensity. */
  readonly budgetLeft: boolean;
}

export function decide(restart: Restart, exit: ExitStatus, facts: ExitFacts): RestartDecision {
  if (facts.isStopping) return "none";
  if (restart === "temporary") return "drop";
  if (restart === "transient" && isDone(exit, facts)) return "drop";
  // a daemon that dies ends all children at once: that is no failure of theirs, and counts towards no limit
  if (isLost(exit)) return "restart";
  // a restart would fail again and only cost money
  if (isOverBudget(exit) || facts.isRefused) return "escalate";
  return facts.budgetLeft ? "restart" : "escalate";
}

function isDone({ kind }: ExitStatus, { isOrdered }: ExitFacts): boolean {
  return kind === "done" || isOrdered;
}

/** Compares the reason too: a host program may exit with the same code for other reasons. */
function isOverBudget({ code, reason }: ExitStatus): boolean {
  return code === EXIT.budget.code && reason === EXIT.budget.reason;
}
