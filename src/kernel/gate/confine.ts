/**
 * The sandbox of a call's OS processes. If it is unavailable, none starts unless the user knowingly allows it: an
 * allowed call becomes a question, a question gets a warning, and if nobody can be asked the call is refused.
 */

import { SyscallError } from "../../abi/errors.ts";
import type { SandboxProfile } from "../../abi/sandbox.ts";
import { english, type Said } from "../../abi/sentence.ts";
import type { Decision, Permit } from "../ports/permit.ts";
import { sandboxOf, subjectOf } from "../process/subject.ts";
import { requestOf } from "./decide.ts";
import type { Passage } from "./passage.ts";

/** UNAVAILABLE: it may not run without a sandbox, or nobody is attached to allow that. */
export function confine(
  passage: Passage,
  decision: Decision,
  policy: Permit,
): { readonly decision: Decision; readonly sandbox: SandboxProfile | null } {
  if (decision.behavior === "deny") return { decision, sandbox: null };
  const { core, self, effectful, scope } = passage;
  const sandbox = policy.sandbox?.(subjectOf(core, self), requestOf(scope)) ?? null;
  const state = core.ports.exec.sandbox;
  if (sandbox === null || state?.available === true) return { decision, sandbox };
  const why = state?.why ?? "nothing on this machine confines commands";
  const fix = state === undefined ? "" : `. To have one: ${state.fix}`;
  const isRequired = policy.sandboxMode === "required";
  const isUnheard = decision.behavior === "allow" && !core.asks.canAsk(self);
  if (isRequired || isUnheard) {
    const rule = isRequired ? "sandbox.mode is required" : "no person is attached who could allow it without";
    const message = `the sandbox is not available: ${why}; ${rule}${fix}`;
    self.log("warn", message, core.ports.clock.mono());
    const { syscall, device } = effectful;
    throw new SyscallError({ syscall, device, pid: self.pid, code: "UNAVAILABLE", message });
  }
  const before = decision.behavior === "ask" ? (decision.said ?? [decision.message]) : [];
  const said: readonly Said[] = [...before, { kind: "no_sandbox", why }];
  const message = said.map(english).join("; ");
  const reason = { kind: "sandbox", detail: why } as const;
  return { decision: { behavior: "ask", message, said, always: null, isHard: true, reason }, sandbox: null };
}

/** null if the sandbox is unavailable: the user has allowed the call without it. */
export function sandboxGiven({ core, self, scope }: Passage): SandboxProfile | null {
  return core.ports.exec.sandbox?.available === true ? sandboxOf(core, self, requestOf(scope)) : null;
}
