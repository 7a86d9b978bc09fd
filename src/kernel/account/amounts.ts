/** Sums of what flows through accounts, and limits as they are asked for. */
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

/** Of a call that was made: one step, if it is a model's and cost anything. */
export function amountsOf({ tokens, usd }: Charge, isStep: boolean): Amounts {
  return { tokens, microUsd: microUsd(usd ?? 0), steps: isStep && tokens > 0 ? 1 : 0 };
}

/** Only tokens; 0 and less: none. */
export function tokenLimit(tokens: number): BudgetLimits {
  return tokens > 0 ? { tokens } : {};
}

/** Limits of what flows that are not above zero are none; those of numbers of processes may be zero. */
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

/** Of each limit the smaller; one that only one of them has stays. */
export function least(a: BudgetLimits, b: BudgetLimits): BudgetLimits {
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])] as (keyof BudgetLimits)[];
  const of = (name: keyof BudgetLimits) => Math.min(a[name] ?? Infinity, b[name] ?? Infinity);
  return Object.fromEntries(names.map((name) => [name, of(name)]));
}

export function isLimited(limits: BudgetLimits): boolean {
  return Object.keys(limits).length > 0;
}
