/**
 * The changes by which the user could allow a refused call, from the narrowest on. Each is tried on the policy itself,
 * so every remedy that is named works.
 */
import type { Effect } from "../../abi/effects.ts";
import type { Remedy } from "../../abi/fact.ts";
import { outwardRule } from "../../abi/labels.ts";
import type { PermissionMode } from "../../abi/process.ts";
import type { Decision, PermitRequest, Subject } from "../../kernel/ports/permit.ts";
import { operandPath } from "../shell/operand-path.ts";
import type { Part } from "../shell/unfold.ts";
import { escapeGlob } from "./glob.ts";
import { notRule } from "./rule.ts";

interface RemedyPolicy {
  decide(subject: Subject, request: PermitRequest): Decision;
  partsOf(effect: Extract<Effect, { kind: "exec" }>): readonly Part[];
}

/** A longer list would not help the user: a wider rule is named instead. */
const MAX_RULES = 4;
const MAX_CHARS = 400;
const MODES: readonly PermissionMode[] = ["accept_edits", "bypass"];

/** Each remedy allows the call by itself; an empty list: no rule and no mode allows it. */
export function findRemedies(
  policy: RemedyPolicy,
  subject: Subject,
  request: PermitRequest,
): readonly Remedy[] {
  const isAllowed = (changed: Partial<Subject>) =>
    policy.decide({ ...subject, ...changed }, request).behavior === "allow";
  const withRules = (rules: readonly string[]) => isAllowed({ grants: [...subject.grants, ...rules] });
  const decision = policy.decide(subject, request);
  const suggested = decision.behavior === "ask" && decision.always !== null ? [[decision.always]] : [];
  const outward = (subject.labels ?? []).flatMap(({ kind, source }) =>
    kind === "untrusted" ? [outwardRule(source)] : [],
  );
  const plain = [exactRules(policy, request), ...suggested, [request.tool]];
  const lists =
    outward.length === 0 ? plain : [outward, ...plain, ...plain.map((rules) => [...rules, ...outward])];
  const ruled = lists
    .map((rules) => [...new Set(rules)])
    .filter((rules) => rules.length > 0 && rules.every(isRule) && withRules(rules))
    .map((rules) => needed(rules, withRules))
    .filter((rules) => rules.length > 0 && rules.length <= MAX_RULES && rules.join(" ").length <= MAX_CHARS);
  const distinct = [...new Map(ruled.map((rules) => [rules.join("\n"), { rules }])).values()];
  const modes = subject.mode === "plan" ? [] : MODES.filter((mode) => isAllowed(inMode(subject, mode)));
  return [...distinct, ...modes.map((mode) => ({ mode }))];
}

/** The change that makes the subject as if started in the mode. */
function inMode({ rights }: Subject, mode: PermissionMode): Partial<Subject> {
  return rights === undefined ? { mode } : { mode, rights: { ...rights, mode } };
}

function isRule(text: string): boolean {
  return notRule({ source: "cliArg", behavior: "allow", text }) === null;
}

function needed(rules: readonly string[], allows: (rules: readonly string[]) => boolean): readonly string[] {
  return rules.reduce<readonly string[]>((left, rule) => {
    const without = left.filter((each) => each !== rule);
    return without.length < left.length && without.length > 0 && allows(without) ? without : left;
  }, rules);
}

/** Rules that name exactly what the call does; effects that no rule can express are left out. */
function exactRules(policy: RemedyPolicy, { tool, effects }: PermitRequest): readonly string[] {
  return [...new Set(effects.flatMap((effect) => rulesOf(policy, tool, effect)))];
}

function rulesOf(policy: RemedyPolicy, tool: string, effect: Effect): readonly string[] {
  switch (effect.kind) {
    case "exec":
      return policy.partsOf(effect).flatMap((part) => rulesOfPart(part, effect.cwd));
    case "read":
      return [pathRule("view", effect.path)];
    case "write":
      return [pathRule("edit", effect.path)];
    case "network":
      return [`fetch(domain:${effect.host})`];
    case "spawn":
      return [`${tool === "skill" ? "skill" : "agent"}(${effect.program})`];
    case "message":
      return effect.signal === undefined ? [`send(${effect.to})`] : [];
    case "mcp":
      return effect.tool === "" ? [] : [tool];
    default:
      return [];
  }
}

function rulesOfPart({ levels, redirects, cwds }: Part, cwd: string): readonly string[] {
  const words = (levels.at(-1) ?? []).map(({ text }) => text);
  // a word that is unknown before the command runs may be anything
  const unknown = words.indexOf(null);
  const known = words.slice(0, unknown < 0 ? words.length : unknown).map((word) => ruleWord(word ?? ""));
  const command = known.length === 0 ? [] : [`bash(${known.join(" ")}${unknown < 0 ? "" : ":*"})`];
  const dirs = (cwds ?? [cwd]).filter((dir) => dir !== null);
  const files = redirects.flatMap(({ operator, target }) =>
    typeof target?.text === "string"
      ? dirs.map((dir) =>
          pathRule(operator.includes(">") ? "edit" : "view", operandPath(dir, target.text ?? "")),
        )
      : [],
  );
  return [...command, ...files];
}

/** The word, quoted where it would otherwise be split or read as a pattern. */
function ruleWord(word: string): string {
  const quoted = /^[\p{L}\p{N}_@%+=:,./~^{}-]+$/u.test(word) && !word.endsWith(":*") ? word : `'${word}'`;
  return escaped(quoted);
}

function pathRule(tool: string, path: string): string {
  return `${tool}(/${escaped(escapeGlob(path))})`;
}

/** Escapes parentheses, which would end the rule. */
function escaped(text: string): string {
  return text.replace(/[()]/g, "\\$&");
}
