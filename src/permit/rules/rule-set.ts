/**
 * All rules in force, parsed once. The rules of all sources are united: deny before ask before allow, whatever the
 * source.
 */
import type { Rights } from "../../abi/rights.ts";
import type { RuleSource, RuleText } from "../../abi/rules.ts";
import { describeRule, parseRule, type Rule } from "./rule.ts";
import { SHIPPED_RULES } from "./shipped.ts";

const MAX_RULES = 2000;
/** Grants are parsed at each call, so that many parsed ones are cached; then the cache is emptied. */
const MAX_KEPT_GRANTS = 2000;

export interface RuleSet {
  readonly deny: readonly Rule[];
  readonly ask: readonly Rule[];
  readonly allow: readonly Rule[];
  /** A problem of the administrator's policy: everything is refused except the caller's own state. */
  readonly brokenPolicy: string | undefined;
  /** Messages about the rules for the user, one line each. */
  readonly warnings: readonly string[];
}

/** Sources that come with a directory or a skill: they allow nothing until the user has trusted the workspace. */
const BROUGHT: ReadonlySet<RuleSource> = new Set(["projectSettings", "localSettings", "command"]);

export function makeRuleSet(
  written: readonly RuleText[],
  isTrusted: boolean,
  policyProblem?: string,
): RuleSet {
  const warnings: string[] = [];
  const rules = parseRules([...shippedKept(written, warnings), ...written], warnings);
  const parsed = sorted(rules, isTrusted);
  return { ...parsed, brokenPolicy: policyProblem ?? parsed.brokenPolicy, warnings };
}

function sorted(rules: readonly Rule[], isTrusted: boolean): Omit<RuleSet, "warnings"> {
  const isMalformed = (rule: Rule) => rule.match.kind === "malformed";
  const broken = rules.find((rule) => rule.source === "policySettings" && isMalformed(rule));
  return {
    deny: rules.filter((rule) => rule.behavior === "deny"),
    ask: rules.filter((rule) => rule.behavior === "ask"),
    allow: rules.filter((rule) => widens(rule, isTrusted) && !isMalformed(rule)),
    brokenPolicy: broken === undefined ? undefined : describeRule(broken),
  };
}

function parseRules(written: readonly RuleText[], warnings: string[]): readonly Rule[] {
  const seen = new Map<RuleSource, number>();
  return written.flatMap((text) => {
    if (text.behavior === "drop") return [];
    const count = (seen.get(text.source) ?? 0) + 1;
    seen.set(text.source, count);
    const parsed = parseRule({ ...text, behavior: text.behavior });
    const rule: Rule = count > MAX_RULES ? { ...parsed, match: { kind: "malformed" } } : parsed;
    if (rule.match.kind === "malformed") warnings.push(warningOf(rule, count > MAX_RULES));
    return [rule];
  });
}

function widens({ behavior, source }: Rule, isTrusted: boolean): boolean {
  return behavior === "allow" && (isTrusted || !BROUGHT.has(source));
}

/** The rules of the settings together with those that a process was given at its spawn, which stay with it for good. */
export function withRights(base: RuleSet, rights: Rights, isTrusted: boolean): RuleSet {
  // not counted against the limit of a source, so that an inherited deny is never dropped
  const parse = (texts: readonly RuleText[], behavior: Rule["behavior"]) =>
    texts.map((text) => parseRule({ ...text, behavior }));
  const rules = [
    ...parse(rights.deny, "deny"),
    ...parse(rights.ask, "ask"),
    ...parse(rights.allow ?? [], "allow"),
  ];
  const given = sorted(rules, isTrusted);
  return {
    deny: [...base.deny, ...given.deny],
    ask: [...base.ask, ...given.ask],
    allow: [...base.allow, ...given.allow],
    brokenPolicy: base.brokenPolicy ?? given.brokenPolicy,
    warnings: base.warnings,
  };
}

/** Parses the rules that a session was granted, as allow rules. Malformed ones allow nothing. */
export function makeGrantParser(): (grants: readonly string[]) => readonly Rule[] {
  const known = new Map<string, Rule>();
  const parse = (text: string): Rule => {
    const kept = known.get(text);
    if (kept !== undefined) return kept;
    if (known.size >= MAX_KEPT_GRANTS) known.clear();
    const rule = parseRule({ source: "session", behavior: "allow", text });
    known.set(text, rule);
    return rule;
  };
  return (grants) => grants.map(parse).filter((rule) => rule.match.kind !== "malformed");
}

const SHIPPED_KEYS = SHIPPED_RULES.map(({ text }) => keyOf(text));

function shippedKept(written: readonly RuleText[], warnings: string[]): readonly RuleText[] {
  const drops = written.filter(({ behavior }) => behavior === "drop");
  if (drops.length === 0) return SHIPPED_RULES;
  const dropped = new Set<string>();
  for (const { source, text } of drops) {
    const key = keyOf(text);
    if (source !== "userSettings") warnings.push(`only user settings drop defaults; ignored: ${text}`);
    else if (!SHIPPED_KEYS.includes(key)) warnings.push(`no such default rule to drop: ${text}`);
    else dropped.add(key);
  }
  return SHIPPED_RULES.filter((_, n) => !dropped.has(SHIPPED_KEYS[n] ?? ""));
}

/** The same key for equivalent spellings: `Bash(curl *)` and `bash(curl:*)`. */
function keyOf(text: string): string {
  const rule = parseRule({ source: "shipped", behavior: "deny", text });
  return rule.match.kind === "command" && rule.match.rest && rule.match.words.length === 1
    ? `bash ${rule.match.name}`
    : text;
}

function warningOf(rule: Rule, isTooMany: boolean): string {
  const why = isTooMany ? `more than ${MAX_RULES} rules` : "not a rule";
  const isPolicy = rule.source === "policySettings";
  const asks = rule.behavior === "allow" ? "dropped" : `every call of ${rule.tool || "any tool"} asks`;
  return `${describeRule(rule)}: ${why}; ${isPolicy ? "every call is refused" : asks}`;
}
