/**
 * The limits of a new process: those requested, else the defaults of the settings, and never more than those of its
 * agent file. Only for tokens, a requested limit replaces the `contextBudget` of the agent file.
 */
import type { AgentInfo } from "../../abi/agent.ts";
import type { BudgetLimits } from "../../abi/budget.ts";
import { PID_KERNEL, type Pid } from "../../abi/ids.ts";
import type { ProcessKind } from "../../abi/process.ts";
import type { SpawnOpts } from "../../abi/sys.ts";
import type { KernelPorts } from "../ports/kernel-ports.ts";
import { least, limitsOf, tokenLimit } from "./amounts.ts";

interface Defaults {
  readonly ports: Pick<KernelPorts, "budget">;
}

/** A process that is about to begin. */
interface Wanted {
  readonly parent: { readonly pid: Pid };
  readonly body: { readonly kind: ProcessKind; readonly agent: AgentInfo | null };
  readonly opts: SpawnOpts;
}

/** The defaults of the settings apply to agents that the user starts: their descendants spend from these accounts. */
export function spawnLimits(core: Defaults, { parent, body, opts }: Wanted): BudgetLimits {
  const { kind, agent } = body;
  const isPersons = parent.pid === PID_KERNEL && kind === "agent";
  const defaults = isPersons ? limitsOf(core.ports.budget?.(opts.cwd).defaults ?? {}) : {};
  return within(agent, { ...defaults, ...askedFor(opts) }, hasTokens(opts));
}

/** The limits of a child that a process or a supervisor starts. */
export function childLimits(agent: AgentInfo | null, opts: SpawnOpts): BudgetLimits {
  return within(agent, askedFor(opts), hasTokens(opts));
}

function within(agent: AgentInfo | null, given: BudgetLimits, tokensAreAsked: boolean): BudgetLimits {
  const { contextBudget = 0, budget = {} } = agent?.manifest ?? {};
  return least(given, { ...(tokensAreAsked ? {} : tokenLimit(contextBudget)), ...limitsOf(budget) });
}

/** A negative `contextBudget` counts as 0: then the agent file decides. */
function askedFor({ contextBudget = 0, budget = {} }: SpawnOpts): BudgetLimits {
  return { ...tokenLimit(contextBudget), ...limitsOf(budget) };
}

function hasTokens(opts: SpawnOpts): boolean {
  return askedFor(opts).tokens !== undefined;
}
