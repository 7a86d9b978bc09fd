/**
 * Messages between members of one compose project. The gate looks up the recipient before the policy judges the
 * message, and again when it is sent: in between, a service may have been restarted or the project changed.
 */
import type { Effect } from "../../abi/effects.ts";
import { SyscallError } from "../../abi/errors.ts";
import { asCallId, type Pid } from "../../abi/ids.ts";
import { type Member, memberName, membersNamed } from "../../abi/member.ts";
import type { Process } from "../process/process.ts";
import { decide, type Policed } from "./decide.ts";
import { isForAbove, type Neighbourhood, namesNear } from "./near-mail.ts";
import type { Scope } from "./scope.ts";

type MessageEffect = Extract<Effect, { kind: "message" }>;

/** Finds the other members of a process's project. */
export interface Fellowship extends Neighbourhood {
  readonly projects: { fellowsOf(self: Process): readonly Member[] };
}

/** A message to check before it is sent. */
interface Mail {
  readonly core: Fellowship & Policed;
  readonly self: Process;
  readonly scope: Scope | null;
}

/** Fills in the names of those whom the message is for; what the caller claims about that is ignored. */
export function withReceivers(core: Fellowship, self: Process, effect: Effect): Effect {
  if (effect.kind !== "message") return effect;
  const { member: _, names: _names, isAbove: _above, isStranger: _far, ...asked } = effect;
  if (asked.signal !== undefined) return asked;
  const [found, ...others] = membersNamed(core.projects.fellowsOf(self), asked.to);
  if (others.length > 0) return asked;
  if (found === undefined) {
    const names = namesNear(core, self, asked.to);
    if (names === "stranger") return { ...asked, isStranger: true };
    const above = isForAbove(core, self, asked.to) ? { isAbove: true as const } : {};
    return { ...asked, names, ...above };
  }
  return { ...asked, member: [found.service, memberName(found), String(found.pid)] };
}

/**
 * A message permitted for a fellow member may only reach that member, and one permitted for another process may not
 * reach a member: CONFLICT. A message that no tool declared is judged here: PERMISSION.
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

/** Sent through the process's own handle, not through a tool. */
function checkUndeclared(core: Fellowship & Policed, self: Process, pid: Pid): void {
  const effects = [withReceivers(core, self, { kind: "message", to: String(pid) })];
  const scope = { callId: asCallId("c_mail"), tool: "send", effects };
  const decision = decide({ core, self, scope });
  if (decision.behavior === "allow") return;
  throw new SyscallError({ syscall: "Send", pid: self.pid, code: "PERMISSION", message: decision.message });
}

function changed({ pid: self }: Process, pid: Pid): SyscallError {
  const message = `the message was not permitted for process ${pid}: the members of the project have changed meanwhile`;
  return new SyscallError({ syscall: "Send", pid: self, code: "CONFLICT", message, hint: "send it again" });
}
