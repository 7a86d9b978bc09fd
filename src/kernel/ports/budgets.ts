/** Accounts as the wires see them. */
import type { Amounts, Budget, BudgetLimits } from "../../abi/budget.ts";
import type { GrantBy } from "../../abi/grants.ts";
import type { Pid } from "../../abi/ids.ts";
import type { ProcessKind } from "../../abi/process.ts";

export interface BudgetView {
  readonly pid: Pid;
  readonly ppid: Pid;
  readonly name: string;
  readonly kind: ProcessKind;
  readonly intent: string;
  readonly isLive: boolean;
  readonly limits: BudgetLimits;
  /** Spent by its own calls; `spent`: by it and its descendants; `reserved`: for calls in progress. */
  readonly own: Omit<Amounts, "steps">;
  /** How many of its own calls have no known price: they cost nothing here. */
  readonly unpricedCalls: number;
  readonly spent: Amounts;
  readonly reserved: Amounts;
  readonly workedMs: number;
  /** Agents started below it, and those that run now. */
  readonly children: number;
  readonly running: number;
  /** The most that its next call can spend, limits of its ancestors included; null: no limit. */
  readonly left: { readonly tokens: number | null; readonly microUsd: number | null };
}

export interface WindowView {
  readonly unit: "tokens" | "microUsd";
  readonly limit: number;
  readonly spent: number;
  readonly perMs: number;
}

/** A change of limits by the user. Limits that are not named stay. */
export interface BudgetChange {
  /** null removes a limit. */
  readonly set: { readonly [K in keyof Budget]: Budget[K] | null };
  /** Added to the current limits. */
  readonly add: Budget;
  readonly by: GrantBy;
}

const COST_KEYS = ["call", "pid", "subtree", "model", "tool", "source", "day"] as const;
export type CostKey = (typeof COST_KEYS)[number];

export interface CostLine {
  readonly key: string;
  readonly calls: number;
  readonly tokens: number;
  /** Tokens of input that were read from the server's cache. */
  readonly cached: number;
  /** All other tokens of input, those written to the cache included. */
  readonly input: number;
  /** How many of those were written to it. */
  readonly written: number;
  readonly output: number;
  /** How many of the output tokens were thinking, where the server says so. */
  readonly thinking: number;
  readonly microUsd: number;
  /** Calls without a known price: not in the sum. */
  readonly unpriced: number;
}

export interface Budgets {
  /**
   * Accounts of one process and its descendants, or all that are in memory; parents first. Those below a process that
   * has ended come from the journal. NOT_FOUND.
   */
  list(
    pid?: Pid,
  ): Promise<{ readonly processes: readonly BudgetView[]; readonly windows: readonly WindowView[] }>;
  /**
   * Sets limits of a process, whatever it does now. Durable when it resolves. NOT_FOUND; INVALID: pid 0, or `add` to a
   * limit that is not set.
   */
  set(pid: Pid, change: BudgetChange): Promise<BudgetLimits>;
  /**
   * The cost of calls since then (wall clock, ms) according to the journal, for the newest 1,000 processes, or of one
   * process and all below it, whether they run or have ended. NOT_FOUND.
   */
  costs(
    by: CostKey,
    since: number,
    tree?: Pid,
  ): Promise<{ readonly lines: readonly CostLine[]; readonly isCut: boolean }>;
}
