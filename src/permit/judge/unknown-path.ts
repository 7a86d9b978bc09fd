/** Judges paths that only bash can expand: they may be any path. */

import { describeRule } from "../rules/rule.ts";
import type { Case } from "./case.ts";
import { allow, ask, hardAsk, type Verdict } from "./verdict.ts";

/** A path rule that might refuse the path becomes a question that no mode answers. null: no such rule. */
export function restrictUnknownPath(c: Case, access: "read" | "write" | "any"): Verdict | null {
  const rule = [...c.rules.deny, ...c.rules.ask].find(
    ({ match }) => match.kind === "path" && (access === "any" || match.access === access),
  );
  if (rule === undefined) return null;
  return hardAsk(
    "rule",
    describeRule(rule),
    `a path that is not known, which ${describeRule(rule)} may match`,
  );
}

export function judgeUnknownPath(c: Case, access: "read" | "write"): Verdict {
  const restricted = restrictUnknownPath(c, access);
  if (restricted !== null) return restricted;
  const { mode } = c.subject;
  if (mode === "bypass") return allow("mode", "bypass mode");
  if (c.callRule !== undefined) return allow("rule", describeRule(c.callRule));
  return ask(
    { kind: "mode", detail: `${mode} mode` },
    `${access} of a path that is not known (${mode} mode)`,
    null,
  );
}
