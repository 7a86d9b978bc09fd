/** What the wires see of accounts. */
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
  /** By its own calls; by it and all below it; set aside for calls under way. */
  readonly own: Omit<Amounts, "steps">;
  readonly spent: Amounts;
  readonly reserved: Amounts;
  readonly workedMs: number;
  /** Agents started below it, and those that run now. */
  readonly children: number;
  readonly running: number;
  /** What a call of its own can get, over all above it too; null: as much as it likes. */
  readonly left: { readonly tokens: number | null; readonly microUsd: number | null };
}

export interface WindowView {
  readonly unit: "tokens" | "microUsd";
  readonly limit: number;
  readonly spent: number;
  readonly perMs: number;
}

/** null takes a limit away. */
export type BudgetChange = { readonly [K in keyof Budget]: Budget[K] | null };

const COST_KEYS = ["pid", "model", "tool", "source", "day"] as const;
export type CostKey = (typeof COST_KEYS)[number];

export interface CostLine {
  readonly key: string;
  readonly calls: number;
  readonly tokens: number;
  readonly microUsd: number;
  /** Calls whose price is not known: they are not in the sum. */
  readonly unpriced: number;
}

export interface Budgets {
  /** Those in memory, of one process and all below it, or of all; parents first. */
  list(pid?: Pid): { readonly processes: readonly BudgetView[]; readonly windows: readonly WindowView[] };
  /**
   * New limits of a process, whatever it does now; those that are not named stay. `add`: on top of what they are. Durable when
   * it resolves. NOT_FOUND; INVALID: pid 0, or a limit to add to that is none.
   */
  set(pid: Pid, change: BudgetChange, add: Budget, by: GrantBy): Promise<BudgetLimits>;
  /** What calls cost since then (wall clock, ms), as the journal has it: of the newest 1,000 processes. */
  costs(
    by: CostKey,
    since: number,
  ): Promise<{ readonly lines: readonly CostLine[]; readonly isCut: boolean }>;
}
