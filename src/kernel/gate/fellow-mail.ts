/**
 * Messages between members of one compose project. Whom a message is for is looked up by the gate before the policy judges it,
 * and again when it is sent: between the two a service may have been started anew, or the project changed.
 */
import type { Effect } from "../../abi/effects.ts";
import { SyscallError } from "../../abi/errors.ts";
import { asCallId, type Pid } from "../../abi/ids.ts";
import { type Member, memberName, membersNamed } from "../../abi/member.ts";
import type { Process } from "../process/process.ts";
import { decide, type Policed } from "./decide.ts";
import type { Scope } from "./scope.ts";

type MessageEffect = Extract<Effect, { kind: "message" }>;

/** Who are members of a project with it. */
interface Projects {
  readonly projects: { fellowsOf(self: Process): readonly Member[] };
}

/** A message on its way. */
interface Mail {
  readonly core: Projects & Policed & { readonly table: { looksInto(viewer: Pid, pid: Pid): boolean } };
  readonly self: Process;
  readonly scope: Scope | null;
}

/** With the names of the one fellow that it is for; what the caller says of that counts for nothing. */
export function withMember(core: Projects, self: Process, effect: Effect): Effect {
  if (effect.kind !== "message") return effect;
  const { member: _, ...asked } = effect;
  if (asked.signal !== undefined) return asked;
  const [found, ...others] = membersNamed(core.projects.fellowsOf(self), asked.to);
  if (found === undefined || others.length > 0) return asked;
  return { ...asked, member: [found.service, memberName(found), String(found.pid)] };
}

/**
 * What was permitted for a fellow goes to that fellow, and what was permitted for another does not go to a fellow: CONFLICT. What
 * no tool declared is judged here: PERMISSION.
 */
export function checkFellow({ core, self, scope }: Mail, pid: Pid): void {
  const named = (scope?.effects ?? []).filter(isForFellow);
  if (named.length === 0 && core.table.looksInto(self.pid, pid)) return;
  if (scope === null) checkUndeclared(core, self, pid);
  else if (!isFellow(core.projects.fellowsOf(self), named, pid)) throw changed(self, pid);
}

function isForFellow(effect: Effect): effect is MessageEffect {
  return effect.kind === "message" && effect.member !== undefined;
}

function isFellow(fellows: readonly Member[], named: readonly MessageEffect[], pid: Pid): boolean {
  return named.some(({ to }) => membersNamed(fellows, to).some((fellow) => fellow.pid === pid));
}

/** By the own handle of the process: no tool stands between. */
function checkUndeclared(core: Projects & Policed, self: Process, pid: Pid): void {
  const effects = [withMember(core, self, { kind: "message", to: String(pid) })];
  const scope = { callId: asCallId("c_mail"), tool: "send", effects };
  const decision = decide({ core, self, scope });
  if (decision.behavior === "allow") return;
  throw new SyscallError({ syscall: "Send", pid: self.pid, code: "PERMISSION", message: decision.message });
}

function changed({ pid: self }: Process, pid: Pid): SyscallError {
  const message = `the message was not permitted for process ${pid}: the members of the project have changed meanwhile`;
  return new SyscallError({ syscall: "Send", pid: self, code: "CONFLICT", message, hint: "send it again" });
}
