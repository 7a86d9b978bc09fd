/**
 * Judges text that cannot be read with certainty: deny and ask rules that may match do match, and no allow rule does.
 */

import { isDynamic, mayRun, unquoted } from "../rules/command-match.ts";
import { isMentioned } from "../rules/path-pattern.ts";
import { shown } from "../rules/paths.ts";
import { describeRule, type Rule } from "../rules/rule.ts";
import type { Case } from "./case.ts";
import { kernelMention } from "./kernel-mention.ts";
import { findMention } from "./mention.ts";
import { allow, ask, deny, hardAsk, saidOf, told, type Verdict } from "./verdict.ts";

/** A text that could not be analysed. */
interface UnreadText {
  readonly text: string;
  /** The working directory in which it starts. */
  readonly cwd: string;
  readonly why: string;
  /** The program that finally runs is not in the text at all. */
  readonly runsAnything?: boolean;
}

export function judgeUnread(c: Case, { text, cwd, why, runsAnything = false }: UnreadText): Verdict {
  const detail = `the command cannot be read with certainty: ${why}`;
  const named = mentionVerdict(c, text, cwd);
  if (named?.behavior === "deny") return named;
  const mayMatch = (rule: Rule) =>
    runsAnything
      ? rule.match.kind === "command" || rule.match.kind === "path"
      : mayRun(rule, text) || mayTouch(rule, text);
  const denied = c.rules.deny.filter(mayMatch);
  const policy = denied.find((rule) => rule.source === "policySettings");
  if (policy !== undefined) return deny("rule", `${detail}; ${describeRule(policy)} may forbid it`);
  const asked = c.rules.ask.filter((rule) => rule.match.kind === "command" || mayMatch(rule));
  const hard = [...denied, ...asked].find((rule) => rule.source !== "shipped");
  if (hard !== undefined)
    return hardAsk("rule", describeRule(hard), `${detail}; ${describeRule(hard)} may match`);
  if (named?.behavior === "ask") return { ...named, ...told(detail, ...saidOf(named)) };
  if (c.subject.mode === "bypass") return allow("mode", { kind: "mode", mode: "bypass" });
  return ask({ kind: "parse", detail }, { kind: "unread", text: shown(text), why }, null);
}

/** Checks the text for paths that are closed or protected; null: none is named. */
export function mentionVerdict(c: Case, text: string, cwd: string): Verdict | null {
  const kernel = kernelMention(c, text);
  if (kernel !== undefined)
    return deny("protected", `${kernel} belongs to crux itself; no mode or rule opens it`);
  const mention = findMention(c, text, cwd);
  if (mention === undefined) return null;
  const named = `a protected path (${mention.kind})`;
  return hardAsk("protected", named, `the command names ${shown(mention.word)}, ${named}`);
}

/** Whether a path rule may match: a path that only bash can expand may be any path. */
function mayTouch({ match }: Rule, text: string): boolean {
  return match.kind === "path" && (isDynamic(text) || isMentioned(match.pattern, unquoted(text)));
}
