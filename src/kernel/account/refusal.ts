/** The message and fields of the error for a call that cannot be paid for. */
import type { BudgetRefusal, BudgetUnit } from "../../abi/budget.ts";
import type { Fact } from "../../abi/fact.ts";
import { shownUsd, usdOf } from "../../lib/usd.ts";
import type { Shortage } from "./account.ts";
import type { Flow } from "./amounts.ts";

const UNITS: Readonly<Record<Flow, BudgetUnit>> = { tokens: "tokens", microUsd: "usd", steps: "steps" };

/** `now`: wall clock, ms. */
export function refusalOf(shortage: Shortage, now: number): BudgetRefusal {
  const { account, unit, limit, used, reserved, asked, window } = shortage;
  const amount = (n: number): number => (unit === "microUsd" ? usdOf(n) : n);
  const resetsAt = window?.resetsAt(asked, reserved, now) ?? null;
  return {
    account: account.owner?.pid ?? 0,
    unit: UNITS[unit],
    limit: amount(limit),
    used: amount(used),
    reserved: amount(reserved),
    asked: amount(asked),
    ...(window === undefined ? {} : { window: window.perMs }),
    ...(resetsAt === null ? {} : { resetsAt: new Date(resetsAt).toISOString() }),
    retryable: false,
    ...(window === undefined ? {} : { raise: WINDOWS }),
  };
}

const WINDOWS = "budget.windows in settings.json";

/**
 * Names a limit that would be enough for this call. The limits of windows are set in the settings. Without a price, no
 * raise helps.
 */
export function guidanceOf(shortage: Shortage): { hint: string } | { fact: Fact } | undefined {
  const { account, unit, used, reserved, asked, window, isUnpriced } = shortage;
  if (isUnpriced === true) return undefined;
  if (window !== undefined) return { hint: `to raise it: ${WINDOWS}` };
  const amount = used + reserved + asked;
  const need = unit === "microUsd" ? Math.ceil(amount / 10_000) / 100 : amount;
  return { fact: { kind: "limit_reached", pid: account.owner?.pid ?? 0, unit: UNITS[unit], need } };
}

export function refusalWords(shortage: Shortage, ownPid: number, now: number): string {
  const { account, unit, limit, used, reserved, asked, window, isUnpriced } = shortage;
  if (isUnpriced === true)
    return "the price of this model is not known, and there is a limit in money: set models.<id>.price in settings.json";
  const shown = (n: number): string => (unit === "microUsd" ? shownUsd(n) : String(n));
  const of = unit === "microUsd" ? "" : ` ${unit}`;
  const sums = `limit ${shown(limit)}, used ${shown(used)}, reserved ${shown(reserved)}, asked ${shown(asked)}${of}`;
  const pid = account.owner?.pid;
  const whose = pid === undefined || pid === ownPid || window !== undefined ? "" : ` of process ${pid}`;
  if (window === undefined) return `budget exceeded${whose}: ${sums}`;
  const { resetsAt } = refusalOf(shortage, now);
  const until = resetsAt === undefined ? "" : `; free again at ${resetsAt}`;
  return `budget exceeded for ${spanWords(window.perMs)}: ${sums}${until}`;
}

/** `1 day`, `90 minutes`. */
function spanWords(ms: number): string {
  for (const [unit, name] of SPANS) {
    const count = ms / unit;
    if (count >= 1 && Number.isInteger(count)) return `${count} ${name}${count === 1 ? "" : "s"}`;
  }
  return `${ms} ms`;
}

const SPANS = [
  [86_400_000, "day"],
  [3_600_000, "hour"],
  [60_000, "minute"],
  [1_000, "second"],
] as const;
