/** The budget in an agent file, for its process and all descendants: a cap within what the starter has and grants. */
import type { AgentManifest } from "../../abi/agent.ts";
import type { Budget } from "../../abi/budget.ts";
import type { YamlFields } from "./yaml-fields.ts";

const COUNTS = ["steps", "wall_ms", "depth", "children", "concurrent"] as const;
/** The counts that may be 0, which forbids them; the others must be at least 1. */
const FROM_ZERO: ReadonlySet<string> = new Set(["depth", "children", "concurrent"]);
const MAX_USD = 1e9;

/** `budget.tokens` and `context_budget` mean the same; only one may be given. */
export function manifestBudget(
  fields: YamlFields,
  warn: (message: string) => void,
): Pick<AgentManifest, "contextBudget" | "budget"> {
  const written = fields.map("budget");
  const contextBudget = Math.max(0, fields.int("context_budget") ?? 0);
  const tokens = countOf(written, "tokens");
  if (tokens !== undefined && fields.has("context_budget"))
    throw fields.wrong("budget", "tokens and context_budget are the same: give one");
  const usd = usdOf(written);
  const counts = COUNTS.flatMap((key) => {
    const count = countOf(written, key);
    return count === undefined ? [] : [[key === "wall_ms" ? "wallMs" : key, count] as const];
  });
  for (const message of written.unknown("budget.")) warn(message);
  const budget: Budget = { ...Object.fromEntries(counts), ...(usd === undefined ? {} : { usd }) };
  return {
    contextBudget: tokens ?? contextBudget,
    ...(Object.keys(budget).length === 0 ? {} : { budget }),
  };
}

function countOf(written: YamlFields, key: string): number | undefined {
  const count = written.int(key);
  const least = FROM_ZERO.has(key) ? 0 : 1;
  if (count === undefined || count >= least) return count;
  throw written.wrong(`budget.${key}`, `must be at least ${least}`);
}

function usdOf(written: YamlFields): number | undefined {
  const text = written.text("usd");
  if (text === "") return undefined;
  const usd = Number(text);
  if (usd > 0 && usd <= MAX_USD) return usd;
  throw written.wrong("budget.usd", "must be an amount of US dollars over 0");
}
