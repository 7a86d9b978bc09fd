import type { Budget, BudgetLimits } from "../../../abi/budget.ts";
import { asPid } from "../../../abi/ids.ts";
import type { WireBudget } from "../../../abi/methods/budget.ts";
import type { BudgetChange, BudgetView } from "../../../kernel/ports/budgets.ts";
import { usdOf } from "../../../lib/usd.ts";
import type { Handler } from "../handler.ts";
import { grantedBy } from "../principal.ts";
import { invalid } from "../request.ts";

const INTENT_CHARS = 160;

export const budgetGet: Handler<"budget.get"> = async ({ pid }, { kernel }) => {
  const { processes, windows } = await kernel.budgets.list(pid === undefined ? undefined : asPid(pid));
  return {
    payload: {
      accounts: processes.map(toWire),
      windows: windows.map(({ unit, limit, spent, perMs }) => {
        const amount = (n: number): number => (unit === "microUsd" ? usdOf(n) : n);
        const name = unit === "microUsd" ? ("usd" as const) : unit;
        return { unit: name, limit: amount(limit), spent: amount(spent), per_ms: perMs };
      }),
    },
  };
};

export const budgetSet: Handler<"budget.set"> = async ({ pid, set = {}, add = {} }, call) => {
  if (Object.keys(set).length + Object.keys(add).length === 0)
    throw invalid(
      "payload.set: names no limit; one of tokens, usd, steps, wall_ms, depth, children, concurrent",
    );
  const { wall_ms: wallMs, ...others } = set;
  const change = { ...others, ...(wallMs === undefined ? {} : { wallMs }) } as BudgetChange["set"];
  const by = grantedBy(call.principal, call.client);
  const limits = await call.kernel.budgets.set(asPid(pid), { set: change, add: toBudget(add), by });
  return { payload: { pid, limits: toWireLimits(limits) } };
};

export const costGet: Handler<"cost.get"> = async ({ by = "pid", since = 0, pid }, { kernel }) => {
  const tree = pid === undefined ? [] : [asPid(pid)];
  const { lines, isCut } = await kernel.budgets.costs(by, since, ...tree);
  const shown = lines.map(({ microUsd, ...line }) => ({ ...line, usd: usdOf(microUsd) }));
  return { payload: { by, lines: shown, cut: isCut } };
};

export function toBudget({ wall_ms: wallMs, ...others }: WireBudget): Budget {
  const given = Object.entries(others).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(given), ...(wallMs === undefined ? {} : { wallMs }) };
}

function toWireLimits({ microUsd, wallMs, ...others }: BudgetLimits): WireBudget {
  return {
    ...others,
    ...(microUsd === undefined ? {} : { usd: usdOf(microUsd) }),
    ...(wallMs === undefined ? {} : { wall_ms: wallMs }),
  };
}

function toWire(view: BudgetView) {
  const {
    pid,
    ppid,
    name,
    kind,
    intent,
    isLive,
    limits,
    own,
    unpricedCalls,
    spent,
    reserved,
    workedMs,
    left,
  } = view;
  const amounts = ({ tokens, microUsd, steps }: BudgetView["spent"]) => ({
    tokens,
    usd: usdOf(microUsd),
    steps,
  });
  return {
    pid,
    ppid,
    name,
    kind,
    intent: intent.slice(0, INTENT_CHARS).toWellFormed(),
    running: isLive,
    limits: toWireLimits(limits),
    own: {
      tokens: own.tokens,
      usd: usdOf(own.microUsd),
      ...(unpricedCalls === 0 ? {} : { unpriced_calls: unpricedCalls }),
    },
    spent: amounts(spent),
    reserved: amounts(reserved),
    wall_ms: workedMs,
    children: view.children,
    concurrent: view.running,
    left: { tokens: left.tokens, usd: left.microUsd === null ? null : usdOf(left.microUsd) },
  };
}
