/** The judgement of one effect, before the strictest of a call becomes its decision. */
import type { Decision, JudgedPart, Reason } from "../../kernel/ports/permit.ts";

export type Verdict =
  | {
      readonly behavior: "allow";
      readonly reason: Reason;
      /** What was judged apart. */
      readonly parts?: readonly JudgedPart[];
      /** What the command is given in its environment beside its own. */
      readonly env?: Readonly<Record<string, string>>;
    }
  | {
      readonly behavior: "ask";
      /** Neither an allow rule nor a mode answers it. */
      readonly isHard: boolean;
      readonly message: string;
      readonly always: string | null;
      /** Where nobody can be asked each time. */
      readonly choices?: string;
      readonly parts?: readonly JudgedPart[];
      readonly env?: Readonly<Record<string, string>>;
      readonly reason: Reason;
    }
  | {
      readonly behavior: "deny";
      readonly message: string;
      readonly reason: Reason;
      readonly code?: "INVALID";
    };

export function allow(kind: Reason["kind"], detail: string): Verdict {
  return { behavior: "allow", reason: { kind, detail } };
}

export function deny(kind: Reason["kind"], detail: string, message?: string): Verdict {
  return { behavior: "deny", message: message ?? `Permission denied: ${detail}`, reason: { kind, detail } };
}

/** The call makes no sense, whoever asks: no rule and no person is looked at. */
export function invalid(message: string): Verdict {
  return { behavior: "deny", code: "INVALID", message, reason: { kind: "parse", detail: message } };
}

/** An ask that the mode or a missing allow leads to. `always`: the rule that would answer it for good. */
export function ask(reason: Reason, message: string, always: string | null): Verdict {
  return { behavior: "ask", isHard: false, message, always, reason };
}

export function hardAsk(kind: Reason["kind"], detail: string, message: string): Verdict {
  return { behavior: "ask", isHard: true, message, always: null, reason: { kind, detail } };
}

/** INVALID before deny before hard ask before ask before allow; the first of its kind. Several asks share a suggestion or have none. */
export function strictest(verdicts: readonly Verdict[]): Verdict {
  const [first, ...others] = verdicts;
  if (first === undefined) return allow("default", "nothing outside its own state is touched");
  return others.reduce(stricter, first);
}

function stricter(a: Verdict, b: Verdict): Verdict {
  const [ra, rb] = [rank(a), rank(b)];
  if (ra !== rb) return ra > rb ? a : b;
  if (a.behavior !== "ask" || b.behavior !== "ask" || a.always === b.always) return a;
  return { ...a, always: null, message: a.message === b.message ? a.message : `${a.message}; ${b.message}` };
}

function rank(verdict: Verdict): number {
  if (verdict.behavior === "deny") return verdict.code === "INVALID" ? 4 : 3;
  if (verdict.behavior === "allow") return 0;
  return verdict.isHard ? 2 : 1;
}

/** While mode auto is active a classifier may answer what is not hard, and what did not come of a fault. */
export function toDecision(verdict: Verdict, isAutoActive: boolean): Decision {
  if (verdict.behavior !== "ask") return verdict;
  const { message, always, isHard, choices, parts, env, reason } = verdict;
  const judge = isAutoActive && !isHard && reason.kind !== "error" ? { isJudgeable: true as const } : {};
  return {
    behavior: "ask",
    message,
    always,
    ...(isHard ? { isHard } : {}),
    ...judge,
    ...(choices === undefined ? {} : { choices }),
    ...(parts === undefined ? {} : { parts }),
    ...(env === undefined ? {} : { env }),
    reason,
  };
}
