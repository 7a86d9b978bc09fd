/** The budgets in the settings, in the form that the kernel takes. */
import type { Budget, BudgetWindow } from "../abi/budget.ts";
import type { Settings } from "../abi/settings/settings.ts";
import type { BudgetPolicy } from "../kernel/ports/kernel-ports.ts";
import { spanMs } from "../lib/time/span.ts";
import { microUsd } from "../lib/usd.ts";

/** Nothing stops at it. */
const REMINDER_USD = 5;

export function budgetPolicy({ budget = {}, maxBudgetUsd, costReminderUsd, agents }: Settings): BudgetPolicy {
  const { windows = [], onLimit, onWindow } = budget;
  const usd = lesser(budget.usd, maxBudgetUsd);
  const reminderUsd = costReminderUsd ?? REMINDER_USD;
  return {
    defaults: { ...guardsOf(agents?.limits), ...defaultsOf(budget), ...(usd === undefined ? {} : { usd }) },
    windows: windows.flatMap((window) => windowOf(window) ?? []),
    ...(reminderUsd === 0 ? {} : { reminderUsd }),
    ...(onLimit === undefined ? {} : { onLimit }),
    ...(onWindow === undefined ? {} : { onWindow }),
    ...atOnceOf(agents?.limits),
  };
}

/** Two names of one limit: a folder that lowers it may use the other one than the user. */
function lesser(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}

type AgentLimits = NonNullable<NonNullable<Settings["agents"]>["limits"]>;

/** The limits of a tree under `agents.limits`, as a budget; values in `budget` take precedence. */
function guardsOf({ depth, tree }: AgentLimits = {}): Budget {
  return {
    ...(depth === undefined ? {} : { depth }),
    ...(tree === undefined ? {} : { concurrent: tree }),
  };
}

function atOnceOf(limits: AgentLimits = {}): Pick<BudgetPolicy, "agents"> {
  const { children, kernel, queue, sameTask, spawnsPerDay: perDay, spawnsPerMinute: perMinute } = limits;
  const given = Object.entries({ children, kernel, perDay, perMinute, queue, sameTask }).filter(
    ([, n]) => n !== undefined,
  );
  return given.length === 0 ? {} : { agents: Object.fromEntries(given) };
}

const NAMES = ["tokens", "steps", "wallMs", "depth", "children", "concurrent"] as const;

function defaultsOf(budget: NonNullable<Settings["budget"]>): Budget {
  const given = NAMES.filter((name) => budget[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, budget[name]]));
}

function windowOf(
  window: { readonly usd: number; readonly per: string } | { readonly tokens: number; readonly per: string },
): BudgetWindow | undefined {
  const perMs = spanMs(window.per);
  if (perMs === undefined) return undefined;
  return "usd" in window
    ? { unit: "microUsd", limit: microUsd(window.usd), perMs }
    : { unit: "tokens", limit: window.tokens, perMs };
}
