/** Step three of the gate: allow, refuse, or ask a person. */
import { SyscallError } from "../../abi/errors.ts";
import { PID_KERNEL } from "../../abi/ids.ts";
import type { SandboxProfile } from "../../abi/sandbox.ts";
import type { Allows } from "../../consent/grants/granted.ts";
import type { Core } from "../core.ts";
import type { Decision } from "../ports/permit.ts";
import type { Process } from "../process/process.ts";
import { subjectOf } from "../process/subject.ts";
import type { Pass } from "./call.ts";
import { classified, notePassed } from "./classified.ts";
import { confine, sandboxGiven } from "./confine.ts";
import { decide, requestOf } from "./decide.ts";
import { noteDenial, noteReply, noteSuccess, orAsked } from "./denied.ts";
import type { AskDecision } from "./describe.ts";
import { Edited } from "./edited.ts";
import type { Effectful } from "./effectful.ts";
import { keptInJournal } from "./person-answer.ts";
import { digestNow, questionOf } from "./question.ts";
import { refused, waysOf, withheld } from "./refused.ts";
import type { Scope } from "./scope.ts";

/**
 * Returns when the effects may happen, with what confines the OS processes of the call; else PERMISSION with words for the
 * model. The kernel itself may do all, unconfined.
 */
export async function permit(
  core: Core,
  self: Process,
  effectful: Effectful,
  scope: Scope,
  pass: Pass,
): Promise<Given> {
  if (self.pid === PID_KERNEL || effectful.effects.length === 0) return { sandbox: null };
  await core.ports.permitFor(self.seed.cwd).ready?.(scope.effects);
  noteReply(self, scope);
  const judged = confine(core, self, effectful, requestOf(scope), decide(core, self, scope));
  const decision = orAsked(core, self, scope.tool, judged.decision);
  if (decision.behavior === "allow") noteSuccess(core, self, scope.tool);
  if (decision.behavior === "allow") core.grants.spend(self, allowing(core, self, scope));
  if (decision.behavior === "allow") notePassed(core, self, effectful, scope);
  if (decision.behavior === "allow") return { sandbox: judged.sandbox, ...quietOf(decision) };
  if (decision.behavior === "deny") throw denied(core, self, effectful, scope, decision);
  const seen = await lookAhead(core, self, effectful, scope);
  const asked = await classified(core, self, { effectful, scope, decision }, pass.signal);
  if (asked?.behavior === "deny") throw denied(core, self, effectful, scope, asked);
  if (asked === null) noteSuccess(core, self, scope.tool);
  else if (!core.asks.canAsk(self)) throw unasked(core, self, effectful, scope, asked);
  else await ask(core, self, seen, scope, pass, asked);
  notePassed(core, self, effectful, scope);
  // as the rights are now: a person may have taken minutes to answer
  return { sandbox: sandboxGiven(core, self, requestOf(scope)), ...quietOf(decision) };
}

/** What the OS processes of a permitted call are given. */
type Given = Pick<Scope, "env"> & { readonly sandbox: SandboxProfile | null };

function quietOf({ env }: { readonly env?: Readonly<Record<string, string>> }): Pick<Scope, "env"> {
  return env === undefined ? {} : { env };
}

/**
 * What must fail anyway fails before a person is asked. Looking needs no more than what the process may read unasked; where
 * the reading itself is the question, nothing is looked at. The call, with what the look gave to show of it.
 */
async function lookAhead(core: Core, self: Process, effectful: Effectful, scope: Scope): Promise<Effectful> {
  if (effectful.prepare === undefined) return effectful;
  const reads = scope.effects.filter((effect) => effect.kind === "read");
  const isFree = reads.every(
    (read) => decide(core, self, { ...scope, effects: [read] }).behavior === "allow",
  );
  const view = isFree ? await effectful.prepare(core.handle(self, { ...scope, effects: reads })) : undefined;
  return view === undefined ? effectful : { ...effectful, view };
}

/** Would it be allowed, with what persons have granted as it is given? */
export function allowing(core: Core, self: Process, scope: Scope): Allows {
  return (granted) => decide(core, self, scope, granted).behavior === "allow";
}

/**
 * Returns when a person has allowed it, and it is still what was asked and not denied meanwhile. Throws `Edited` for other
 * arguments, which begin anew.
 */
async function ask(
  core: Core,
  self: Process,
  effectful: Effectful,
  scope: Scope,
  pass: Pass,
  decision: AskDecision,
): Promise<void> {
  const sandbox = sandboxGiven(core, self, requestOf(scope));
  const subject = subjectOf(core, self);
  const question = questionOf(core, self, { effectful, scope, decision, subject, sandbox });
  const hooks = keptInJournal(core, self, effectful, scope, pass);
  const given = await self.stillness.suspend(core.asks.ask(self, question, pass.signal, hooks));
  if (given.nobody !== undefined) throw unasked(core, self, effectful, scope, decision, given.nobody);
  if (given.answer === "no") {
    const words = given.words === "" ? "" : `: ${given.words}`;
    throw withheld(core, self, effectful, scope, `Permission denied by user${words}`);
  }
  if (given.input !== undefined) throw new Edited(given.input);
  if (digestNow(core, effectful, scope) !== question.digest) throw moved(self, effectful);
  const now = decide(core, self, scope);
  if (now.behavior === "deny" && decision.reason.kind !== "denials")
    throw denied(core, self, effectful, scope, now);
}

function moved({ pid }: Process, { syscall, device }: Effectful): SyscallError {
  const message = "the path leads elsewhere than when it was permitted";
  return new SyscallError({ syscall, pid, device, code: "CONFLICT", message });
}

function denied(
  core: Core,
  self: Process,
  at: Effectful,
  scope: Scope,
  { message, code }: Extract<Decision, { behavior: "deny" }>,
): SyscallError {
  const more = code === undefined ? noteDenial(core, self, scope.tool) : "";
  const words = `${message}${more}`;
  if (code !== undefined) return withheld(core, self, at, scope, words, code);
  return refused(core, self, at, scope, { message: words, reason: message, ways: waysOf(core, self, scope) });
}

/** `why`: it was asked, and nobody answered. */
function unasked(
  core: Core,
  self: Process,
  at: Effectful,
  scope: Scope,
  { message: reason, choices }: AskDecision,
  why = "nobody is attached to approve it",
): SyscallError {
  const ways = waysOf(core, self, scope);
  const [way] = ways;
  const next = way === undefined ? "Run crux on a terminal to be asked" : `To allow it: run with ${way}`;
  const more = choices === undefined ? "" : `; ${choices}`;
  const words = `Permission denied: ${reason}${more}. It needs approval in ${self.mode} mode, and ${why}. ${next}`;
  const message = `${words}${noteDenial(core, self, scope.tool)}`;
  return refused(core, self, at, scope, { message, reason, ways });
}
