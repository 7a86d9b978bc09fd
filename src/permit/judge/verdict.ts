/** The judgement of one effect, before the strictest of a call becomes its decision. */
import { english, type Said } from "../../abi/sentence.ts";
import type { Decision, Reason } from "../../kernel/ports/permit.ts";

type Asking = Extract<Decision, { behavior: "ask" }>;

export type Verdict =
  | Exclude<Decision, Asking>
  /** `isHard`: neither an allow rule nor a mode answers the question. */
  | (Omit<Asking, "isJudgeable"> & { readonly isHard: boolean });

export function because(kind: Reason["kind"], detail: Said): Reason {
  return typeof detail === "string" ? { kind, detail } : { kind, detail: english(detail), fact: detail };
}

export function allow(kind: Reason["kind"], detail: Said): Verdict {
  return { behavior: "allow", reason: because(kind, detail) };
}

export function deny(kind: Reason["kind"], detail: string, message?: string): Verdict {
  return { behavior: "deny", message: message ?? `Permission denied: ${detail}`, reason: { kind, detail } };
}

/** An invalid call: it is refused before any rule is applied or the user is asked. */
export function invalid(message: string): Verdict {
  return { behavior: "deny", code: "INVALID", message, reason: { kind: "parse", detail: message } };
}

/** A question because of the mode or a missing allow rule. `always`: the rule that would answer it permanently. */
export function ask(reason: Reason, message: Said, always: string | null): Verdict {
  return { behavior: "ask", isHard: false, ...told(message), always, reason };
}

export function hardAsk(kind: Reason["kind"], detail: Said, message: Said): Verdict {
  return { behavior: "ask", isHard: true, ...told(message), always: null, reason: because(kind, detail) };
}

/** The message of a question; several sentences stand behind one another. */
export function told(...said: readonly Said[]): Pick<Asking, "message" | "said"> {
  const message = said.map(english).join("; ");
  return said.every((each) => typeof each === "string") ? { message } : { message, said };
}

export function saidOf({ said, message }: Pick<Asking, "message" | "said">): readonly Said[] {
  return said ?? [message];
}

/**
 * The strictest: INVALID, deny, hard ask, ask, allow, in this order; the first of its kind. Several asks keep the
 * suggestion only if they share it.
 */
export function strictest(verdicts: readonly Verdict[]): Verdict {
  const [first, ...others] = verdicts;
  if (first === undefined) return allow("default", "nothing outside its own state is touched");
  return others.reduce(stricter, first);
}

function stricter(a: Verdict, b: Verdict): Verdict {
  const [ra, rb] = [rank(a), rank(b)];
  if (ra !== rb) return ra > rb ? a : b;
  if (a.behavior !== "ask" || b.behavior !== "ask" || a.always === b.always) return a;
  const both = a.message === b.message ? {} : told(...saidOf(a), ...saidOf(b));
  return { ...a, ...both, always: null };
}

function rank(verdict: Verdict): number {
  if (verdict.behavior === "deny") return verdict.code === "INVALID" ? 4 : 3;
  if (verdict.behavior === "allow") return 0;
  return verdict.isHard ? 2 : 1;
}

/** In auto mode a classifier may answer a question that is neither hard nor caused by an error. */
export function toDecision(verdict: Verdict, isAutoActive: boolean): Decision {
  if (verdict.behavior !== "ask") return verdict;
  const { message, said, always, isHard, choices, parts, env, reason } = verdict;
  const judge = isAutoActive && !isHard && reason.kind !== "error" ? { isJudgeable: true as const } : {};
  return {
    behavior: "ask",
    message,
    ...(said === undefined ? {} : { said }),
    always,
    ...(isHard ? { isHard } : {}),
    ...judge,
    ...(choices === undefined ? {} : { choices }),
    ...(parts === undefined ? {} : { parts }),
    ...(env === undefined ? {} : { env }),
    reason,
  };
}
