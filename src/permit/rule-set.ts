/** All rules in force, parsed once. Sources unite: deny before ask before allow, whatever the source. */
import type { RuleSource, RuleText } from "../abi/rules.ts";
import { describeRule, parseRule, type Rule } from "./rule.ts";
import { SHIPPED_RULES } from "./shipped.ts";

const MAX_RULES = 2000;

export interface RuleSet {
  readonly deny: readonly Rule[];
  readonly ask: readonly Rule[];
  readonly allow: readonly Rule[];
  /** A policy file that cannot be understood refuses everything but the caller's own state. */
  readonly brokenPolicy: Rule | undefined;
  /** What a person should know about the rules, one line each. */
  readonly warnings: readonly string[];
}

export function makeRuleSet(written: readonly RuleText[]): RuleSet {
  const warnings: string[] = [];
  const rules: Rule[] = [];
  const counts = new Map<RuleSource, number>();
  for (const text of [...shippedKept(written, warnings), ...written]) {
    if (text.behavior === "drop") continue;
    const count = (counts.get(text.source) ?? 0) + 1;
    counts.set(text.source, count);
    const parsed = parseRule({ ...text, behavior: text.behavior });
    const rule: Rule = count > MAX_RULES ? { ...parsed, match: { kind: "malformed" } } : parsed;
    if (rule.match.kind === "malformed") warnings.push(warningOf(rule, count > MAX_RULES));
    rules.push(rule);
  }
  const isMalformed = (rule: Rule) => rule.match.kind === "malformed";
  return {
    deny: rules.filter((rule) => rule.behavior === "deny"),
    ask: rules.filter((rule) => rule.behavior === "ask"),
    allow: rules.filter((rule) => rule.behavior === "allow" && !isMalformed(rule)),
    brokenPolicy: rules.find((rule) => rule.source === "policySettings" && isMalformed(rule)),
    warnings,
  };
}

/** Rules that a session was given, as allow rules. Malformed ones allow nothing. */
export function parseGrants(grants: readonly string[]): readonly Rule[] {
  return grants
    .map((text) => parseRule({ source: "session", behavior: "allow", text }))
    .filter((rule) => rule.match.kind !== "malformed");
}

function shippedKept(written: readonly RuleText[], warnings: string[]): readonly RuleText[] {
  const dropped = new Set<string>();
  for (const { source, behavior, text } of written) {
    if (behavior !== "drop") continue;
    const key = keyOf(text);
    if (source !== "userSettings") warnings.push(`only user settings drop defaults; ignored: ${text}`);
    else if (!SHIPPED_RULES.some((rule) => keyOf(rule.text) === key))
      warnings.push(`no such default rule to drop: ${text}`);
    else dropped.add(key);
  }
  return SHIPPED_RULES.filter((rule) => !dropped.has(keyOf(rule.text)));
}

/** `Bash(curl *)` and `bash(curl:*)` are the same. */
function keyOf(text: string): string {
  const rule = parseRule({ source: "shipped", behavior: "deny", text });
  return rule.match.kind === "command" && rule.match.rest && rule.match.words.length === 1
    ? `bash ${rule.match.name}`
    : text;
}

function warningOf(rule: Rule, isTooMany: boolean): string {
  const why = isTooMany ? `more than ${MAX_RULES} rules` : "not a rule";
  const what = rule.behavior === "allow" ? "dropped" : `every call of ${rule.tool || "any tool"} asks`;
  return `${describeRule(rule)}: ${why}; ${what}`;
}
