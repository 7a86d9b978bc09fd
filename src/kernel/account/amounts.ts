/** Sums of what accounts count, and limits from the budgets that are requested. */
import type { Amounts, Budget, BudgetLimits } from "../../abi/budget.ts";
import type { Charge } from "../../abi/effects.ts";
import { microUsd } from "../../lib/usd.ts";

export type Flow = keyof Amounts;
export const FLOWS: readonly Flow[] = ["tokens", "microUsd", "steps"];

export const NOTHING: Amounts = { tokens: 0, microUsd: 0, steps: 0 };

export function tokensOnly(tokens: number): Amounts {
  return { tokens, microUsd: 0, steps: 0 };
}

export function plus(a: Amounts, b: Amounts): Amounts {
  return { tokens: a.tokens + b.tokens, microUsd: a.microUsd + b.microUsd, steps: a.steps + b.steps };
}

export function minus(a: Amounts, b: Amounts): Amounts {
  return { tokens: a.tokens - b.tokens, microUsd: a.microUsd - b.microUsd, steps: a.steps - b.steps };
}

/** The cost of a finished call. A model call that cost any tokens is one step. */
export function amountsOf({ tokens, usd }: Charge, isStep: boolean): Amounts {
  return { tokens, microUsd: microUsd(usd ?? 0), steps: isStep && tokens > 0 ? 1 : 0 };
}

/** A limit in tokens only; 0 or less: no limit. */
export function tokenLimit(tokens: number): BudgetLimits {
  return tokens > 0 ? { tokens } : {};
}

/** Limits of tokens, money, steps and time count only if above 0; limits of numbers of processes may be 0. */
export function limitsOf(budget: Budget): BudgetLimits {
  const { tokens, usd, steps, wallMs, depth, children, concurrent } = budget;
  const flows = { tokens, microUsd: usd === undefined ? undefined : microUsd(usd), steps, wallMs };
  const counts = { depth, children, concurrent };
  const given = [
    ...Object.entries(flows).filter(([, value]) => (value ?? 0) > 0),
    ...Object.entries(counts).filter(([, value]) => value !== undefined && value >= 0),
  ];
  return Object.fromEntries(given.map(([name, value]) => [name, Math.floor(value as number)]));
}

/** The smaller of each limit; a limit that only one of them has stays. */
export function least(a: BudgetLimits, b: BudgetLimits): BudgetLimits {
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])] as (keyof BudgetLimits)[];
  const of = (name: keyof BudgetLimits) => Math.min(a[name] ?? Infinity, b[name] ?? Infinity);
  return Object.fromEntries(names.map((name) => [name, of(name)]));
}

export function isLimited(limits: BudgetLimits): boolean {
  return Object.keys(limits).length > 0;
}
