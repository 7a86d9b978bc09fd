/** A policy that answers as the test sets it, and records the requests. */
import type { Remedy } from "../../abi/fact.ts";
import type { PermissionMode } from "../../abi/process.ts";
import type { RuleText } from "../../abi/rules.ts";
import type { Decision, Permit, PermitRequest, Subject } from "../ports/permit.ts";

export const ALLOW: Decision = { behavior: "allow", reason: { kind: "rule", detail: "test" } };
export const DENY: Extract<Decision, { behavior: "deny" }> = {
  behavior: "deny",
  message: "Permission denied: rule test",
  reason: { kind: "rule", detail: "test" },
};

export function askWith(always: string | null): Decision {
  return { behavior: "ask", message: "may it?", always, reason: { kind: "default", detail: "test" } };
}

export class ScriptedPermit implements Permit {
  readonly defaultMode: PermissionMode = "default";
  readonly asked: { subject: Subject; request: PermitRequest }[] = [];
  notRule: (rule: RuleText) => string | null = () => null;
  mayEnter: (mode: PermissionMode) => boolean = () => true;
  destroys: NonNullable<Permit["destroys"]> = () => null;
  ways: readonly Remedy[] = [];
  answer: (subject: Subject, request: PermitRequest) => Decision = () => ALLOW;

  remedies(): readonly Remedy[] {
    return this.ways;
  }

  decide(subject: Subject, request: PermitRequest): Decision {
    this.asked.push({ subject: { ...subject, grants: [...subject.grants] }, request });
    return this.answer(subject, request);
  }
}
