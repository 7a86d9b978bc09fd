/**
 * Adjusts a verdict to the mode: `plan` changes nothing, `dont_ask` refuses instead of asking, `auto` lets a classifier
 * judge.
 */
import type { Effect } from "../../abi/effects.ts";
import { isInsideAny } from "../rules/paths.ts";
import { type Case, formsOf } from "./case.ts";
import { deny, type Verdict } from "./verdict.ts";

interface JudgedEffect {
  readonly effect: Effect;
  /** Whether a command only reads; called only where it matters. */
  isReadOnly(): boolean;
}

/** `of`: the judged effect; absent for the call as a whole. */
export function inMode(c: Case, verdict: Verdict, of?: JudgedEffect): Verdict {
  if (verdict.behavior === "deny") return verdict;
  const { mode } = c.subject;
  if (mode === "plan" && of !== undefined)
    return changesNothing(c, verdict, of) ? verdict : refusedInPlan(of.effect);
  if (mode === "dont_ask" && verdict.behavior === "ask") return unasked(verdict);
  return verdict;
}

/** In dont_ask mode a question becomes a refusal; its message contains the question. */
function unasked({ message }: Extract<Verdict, { behavior: "ask" }>): Verdict {
  return deny("mode", "dont_ask mode", `Permission denied: ${message}; dont_ask mode asks nobody`);
}

function refusedInPlan({ kind }: Effect): Verdict {
  const what = kind === "write" ? "no file is changed" : "only what changes nothing runs";
  return deny("mode", "plan mode", `Permission denied: plan mode: ${what} before the plan is approved`);
}

function changesNothing(c: Case, verdict: Verdict, of: JudgedEffect): boolean {
  const { effect } = of;
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
      return of.isReadOnly();
    case "mcp":
      // that the server declares a tool read-only is not enough
      return effect.tool === "" || (c.isReadOnly && verdict.behavior === "allow");
    default:
      return c.isReadOnly;
  }
}

function isFree({ free }: Case, { path, real = path }: Extract<Effect, { kind: "write" }>): boolean {
  return formsOf(path, real).every((form) => isInsideAny(free, form));
}
