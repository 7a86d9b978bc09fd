/** Restrictions from a project's settings, in a form that means the same wherever a process works. */

import { posix } from "node:path";
import type { RuleSource, RuleText } from "../../abi/rules.ts";
import { escapeGlob } from "./glob.ts";
import { segmentsOf } from "./paths.ts";
import type { Rule } from "./rule.ts";
import type { RuleSet } from "./rule-set.ts";

/** The sources that belong to a project; rules of the others apply in every directory. */
const OF_PROJECT: ReadonlySet<RuleSource> = new Set(["projectSettings", "localSettings"]);

/** Deny and ask rules of the project's own files, their paths written from the host root. */
export function restrictionsOf({ deny, ask }: RuleSet, projectRoot: string | undefined): readonly RuleText[] {
  return [...deny, ...ask]
    .filter(({ source }) => OF_PROJECT.has(source))
    .map((rule) => ({ source: rule.source, behavior: rule.behavior, text: fromHostRoot(rule, projectRoot) }));
}

function fromHostRoot({ text, tool, match }: Rule, projectRoot: string | undefined): string {
  if (match.kind !== "path" || match.pattern.anchor !== "project" || projectRoot === undefined) return text;
  const content = /\((.+)\)$/su.exec(text)?.[1]?.trim() ?? "";
  const root = segmentsOf(projectRoot).map((name) => escapeGlob(name).replace(/[()]/g, "\\$&"));
  return `${tool}(/${posix.join("/", ...root, content.replace(/^\/+/, ""))})`;
}
