/** Judges a call as a whole, before its effects: by rules that name the tool and by unreadable settings. */
import type { Effect } from "../../abi/effects.ts";
import { shown } from "../rules/paths.ts";
import { describeRule, type Rule, WRITES } from "../rules/rule.ts";
import type { RuleSet } from "../rules/rule-set.ts";
import type { Case } from "./case.ts";
import { deny, hardAsk, type Verdict } from "./verdict.ts";

/** Effects that are judged even with a broken policy: they concern only the process itself and the user. */
const OWN: ReadonlySet<Effect["kind"]> = new Set(["state", "person"]);
/** Effects that never ask because of the tool; model calls are limited by the budget instead. */
const UNASKED: ReadonlySet<Effect["kind"]> = new Set([...OWN, "llm"]);

/** The verdict of the rules on the tool itself; null: no rule concerns it. */
export function judgeCall({ rules, tool, unreadable }: Case, effects: readonly Effect[]): Verdict | null {
  const isOnly = (kinds: ReadonlySet<Effect["kind"]>) =>
    effects.length > 0 && effects.every(({ kind }) => kinds.has(kind));
  const broken = rules.brokenPolicy;
  if (broken !== undefined && !isOnly(OWN))
    return deny("rule", `${shown(broken)} cannot be understood, so policy refuses everything`);
  const denied = rules.deny.find((rule) => rule.match.kind === "all" && concerns(rule, tool, effects));
  if (denied !== undefined) return deny("rule", `${describeRule(denied)} refuses the tool`);
  if (isOnly(UNASKED)) return null;
  return askedOfTool(rules, tool, effects) ?? askedOfAll(tool, unreadable);
}

function askedOfTool(rules: RuleSet, tool: string, effects: readonly Effect[]): Verdict | null {
  const asked = [
    ...rules.ask.filter((rule) => rule.match.kind === "all"),
    ...[...rules.deny, ...rules.ask].filter(
      ({ match }) => match.kind === "malformed" || match.kind === "untold",
    ),
  ].find((rule) => concerns(rule, tool, effects));
  if (asked === undefined) return null;
  const why =
    asked.match.kind === "malformed" ? `${describeRule(asked)} cannot be understood` : describeRule(asked);
  return hardAsk("rule", describeRule(asked), `${tool}: ${why}`);
}

/** Settings that could not be read in full may have lost a deny. */
function askedOfAll(tool: string, unreadable: readonly string[]): Verdict | null {
  const [first] = unreadable;
  if (first === undefined) return null;
  const why = `settings cannot be read in full (${shown(first)}); every call asks until they are fixed`;
  return hardAsk("error", why, `${tool}: ${why}`);
}

/** Whether a rule names the tool, or its server by prefix; a rule on `bash` also names the bare shell device. */
function namesTool(rule: Rule, tool: string): boolean {
  if (rule.tool === tool || (rule.tool === "bash" && tool === "shell")) return true;
  return rule.tool.startsWith("mcp__") && tool.startsWith(`${rule.tool}__`);
}

/** Whether an allow rule without content names the tool. One for a tool that changes files names all of these. */
export function allowsTool(rule: Rule, tool: string): boolean {
  if (rule.match.kind !== "all") return false;
  return namesTool(rule, tool) || (WRITES.has(rule.tool) && WRITES.has(tool));
}

/** Whether every call of the tool is refused: by a rule for all servers, for one server, or for the tool itself. */
export function deniesTool(rules: RuleSet, tool: string): boolean {
  const isNamed = (rule: Rule) =>
    namesTool(rule, tool) || (rule.tool === "mcp__*" && tool.startsWith("mcp__"));
  return rules.deny.some((rule) => rule.match.kind === "all" && isNamed(rule));
}

/**
 * Whether a deny or ask rule concerns the tool: it also names the bare devices that do the same, and a rule without a
 * tool name concerns every tool.
 */
function concerns(rule: Rule, tool: string, effects: readonly Effect[]): boolean {
  if (rule.tool === "" || namesTool(rule, tool)) return true;
  const has = (kind: Effect["kind"]) => effects.some((effect) => effect.kind === kind);
  if (rule.tool === "bash") return has("exec");
  const isPathRule = tool === "fs" || rule.match.kind === "malformed";
  if (rule.tool === "view") return isPathRule && has("read");
  return (rule.tool === "edit" || rule.tool === "write") && isPathRule && has("write");
}
