/** Judges a call as a whole, before its effects: rules that name the tool, settings that cannot be read. */
import type { Effect } from "../../abi/effects.ts";
import { shown } from "../rules/paths.ts";
import { describeRule, type Rule } from "../rules/rule.ts";
import type { RuleSet } from "../rules/rule-set.ts";
import type { Case } from "./case.ts";
import { deny, hardAsk, type Verdict } from "./verdict.ts";

/** Neither ever asks, whatever the settings have come to. */
const OWN: ReadonlySet<Effect["kind"]> = new Set(["state", "person"]);
/** Nor does a model call: it is left to the budget. */
const UNASKED: ReadonlySet<Effect["kind"]> = new Set([...OWN, "llm"]);

/** What rules on the tool itself say; null: nothing. */
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

/** For an allow rule: the tool by name, a server by its prefix; the bare shell device runs what `bash` runs. */
export function namesTool(rule: Rule, tool: string): boolean {
  if (rule.tool === tool || (rule.tool === "bash" && tool === "shell")) return true;
  return rule.tool.startsWith("mcp__") && tool.startsWith(`${rule.tool}__`);
}

/** Is every call of the tool refused? Rules for all servers, for one, and for the tool itself. */
export function deniesTool(rules: RuleSet, tool: string): boolean {
  const isNamed = (rule: Rule) =>
    namesTool(rule, tool) || (rule.tool === "mcp__*" && tool.startsWith("mcp__"));
  return rules.deny.some((rule) => rule.match.kind === "all" && isNamed(rule));
}

/** For deny and ask: also the bare devices that do the same, and for a rule without a name every tool. */
function concerns(rule: Rule, tool: string, effects: readonly Effect[]): boolean {
  if (rule.tool === "" || namesTool(rule, tool)) return true;
  const has = (kind: Effect["kind"]) => effects.some((effect) => effect.kind === kind);
  if (rule.tool === "bash") return has("exec");
  const isPathRule = tool === "fs" || rule.match.kind === "malformed";
  if (rule.tool === "view") return isPathRule && has("read");
  return (rule.tool === "edit" || rule.tool === "write") && isPathRule && has("write");
}
