/** What a new process may use: as it is asked for, else as its agent file says, else as the settings do. */
import type { AgentInfo } from "../../abi/agent.ts";
import type { BudgetLimits } from "../../abi/budget.ts";
import { PID_KERNEL } from "../../abi/ids.ts";
import type { SpawnOpts } from "../../abi/sys.ts";
import type { Core } from "../core.ts";
import type { Body } from "../process/body.ts";
import type { Process } from "../process/process.ts";
import { limitsOf, tokenLimit } from "./amounts.ts";

/** The settings speak for what a person starts: all below it draws on that. */
export function spawnLimits(
  core: Core,
  parent: Process,
  { kind, agent }: Body,
  opts: SpawnOpts,
): BudgetLimits {
  const isPersons = parent.pid === PID_KERNEL && kind === "agent";
  return {
    ...(isPersons ? limitsOf(core.ports.budget?.().defaults ?? {}) : {}),
    ...childLimits(agent, opts),
  };
}

/** Of one that a process or a supervisor starts. */
export function childLimits(
  agent: AgentInfo | null,
  { contextBudget = 0, budget = {} }: SpawnOpts,
): BudgetLimits {
  return {
    // negative counts as 0: then the agent file decides
    ...tokenLimit(contextBudget > 0 ? contextBudget : (agent?.manifest.contextBudget ?? 0)),
    ...limitsOf(budget),
  };
}
