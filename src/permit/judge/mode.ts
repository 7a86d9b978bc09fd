/** What the mode makes of a verdict: `plan` changes nothing, `dont_ask` asks nobody, `auto` lets a classifier judge. */
import type { Effect } from "../../abi/effects.ts";
import { isInsideAny } from "../rules/paths.ts";
import { type Case, formsOf } from "./case.ts";
import { deny, type Verdict } from "./verdict.ts";

/** `isReadOnly`: of a command, asked only where it matters. */
export function inMode(c: Case, effect: Effect | null, verdict: Verdict, isReadOnly: () => boolean): Verdict {
  if (verdict.behavior === "deny") return verdict;
  const { mode } = c.subject;
  if (mode === "plan" && effect !== null) return inPlan(c, effect, verdict, isReadOnly);
  if (mode === "dont_ask" && verdict.behavior === "ask") return unasked(verdict);
  return verdict;
}

/** Below the mode `default` a question is a refusal; it says what would have been asked. */
function unasked({ message }: Extract<Verdict, { behavior: "ask" }>): Verdict {
  return deny("mode", "mode dont_ask", `Permission denied: ${message}; dont_ask mode asks nobody`);
}

function inPlan(c: Case, effect: Effect, verdict: Verdict, isReadOnly: () => boolean): Verdict {
  return changesNothing(c, effect, verdict, isReadOnly) ? verdict : refusedInPlan(effect);
}

function refusedInPlan({ kind }: Effect): Verdict {
  const what = kind === "write" ? "no file is changed" : "only what changes nothing runs";
  return deny("mode", "mode plan", `Permission denied: plan mode: ${what} before the plan is approved`);
}

function changesNothing(c: Case, effect: Effect, verdict: Verdict, isReadOnly: () => boolean): boolean {
  switch (effect.kind) {
    case "read":
    case "mode":
    case "person":
    case "llm":
    case "state":
      return true;
    case "write":
      return verdict.behavior === "allow" && isFree(c, effect);
    case "exec":
      return isReadOnly();
    case "mcp":
      // the server's own word is not enough
      return effect.tool === "" || (c.isReadOnly && verdict.behavior === "allow");
    default:
      return c.isReadOnly;
  }
}

function isFree({ free }: Case, { path, real = path }: Extract<Effect, { kind: "write" }>): boolean {
  return formsOf(path, real).every((form) => isInsideAny(free, form));
}
