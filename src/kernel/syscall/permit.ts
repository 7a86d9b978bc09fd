/** Step three of the gate: allow, refuse, or ask a person. */
import { SyscallError } from "../../abi/errors.ts";
import type { AskAnswer } from "../../abi/events.ts";
import { PID_KERNEL } from "../../abi/ids.ts";
import type { PermissionMode } from "../../abi/process.ts";
import type { SandboxProfile } from "../../abi/sandbox.ts";
import { NOBODY } from "../ask/asks.ts";
import type { Core } from "../core.ts";
import type { Decision, Subject } from "../ports/permit.ts";
import type { Process } from "../process/process.ts";
import type { Pass, Scope } from "./call.ts";
import { type AskDecision, describe, type Question } from "./describe.ts";
import type { Effectful } from "./guard.ts";

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
): Promise<SandboxProfile | null> {
  if (self.pid === PID_KERNEL || effectful.effects.length === 0) return null;
  await core.ports.permitFor(self.seed.cwd).ready?.(scope.effects);
  const decision = decide(core, self, scope);
  if (decision.behavior === "allow") return sandboxOf(core, self, scope);
  if (decision.behavior === "deny") throw refused(core, self, effectful, scope, decision.message);
  await lookAhead(core, self, effectful, scope);
  if (!core.asks.canAsk(self))
    throw refused(core, self, effectful, scope, headless(decision, self.seed.mode));
  await ask(core, self, effectful, scope, pass, decision);
  return sandboxOf(core, self, scope);
}

/** As the rights are now: a person may have taken minutes to answer. */
function sandboxOf(core: Core, self: Process, { tool, effects }: Scope): SandboxProfile | null {
  return core.ports.permitFor(self.seed.cwd).sandbox?.(subjectOf(self), { tool, effects }) ?? null;
}

/**
 * What must fail anyway fails before a person is asked. Looking needs no more than what the process may read unasked; where
 * the reading itself is the question, nothing is looked at.
 */
async function lookAhead(core: Core, self: Process, effectful: Effectful, scope: Scope): Promise<void> {
  if (effectful.prepare === undefined) return;
  const reads = scope.effects.filter((effect) => effect.kind === "read");
  const isFree = reads.every(
    (read) => decide(core, self, { ...scope, effects: [read] }).behavior === "allow",
  );
  if (isFree) await effectful.prepare(core.handle(self, { ...scope, effects: reads }));
}

/** A policy that throws is a question, never a permission. */
function decide(core: Core, self: Process, scope: Scope): Decision {
  try {
    return core.ports
      .permitFor(self.seed.cwd)
      .decide(subjectOf(self), { tool: scope.tool, effects: scope.effects });
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    core.ports.log("error", `permit: ${detail}`);
    return {
      behavior: "ask",
      message: `the policy failed: ${detail}`,
      always: null,
      reason: { kind: "error", detail },
    };
  }
}

function subjectOf(self: Process): Subject {
  const { mode, cwd, roots, scratch, env, allowedDevices, session } = self.seed;
  const programs = (env.PATH ?? "").split(":").filter((dir) => dir.startsWith("/"));
  const free = scratch === "" ? [] : [scratch];
  return { pid: self.pid, mode, cwd, roots, free, programs, allowedDevices, grants: session.grants };
}

async function ask(
  core: Core,
  self: Process,
  effectful: Effectful,
  scope: Scope,
  pass: Pass,
  decision: AskDecision,
): Promise<void> {
  const { always } = decision;
  const question: Question = describe(scope.tool, effectful, decision);
  const options: AskAnswer[] = always === null ? ["yes", "no"] : ["yes", "no", "always"];
  const { uuid } = self.seed;
  const record = { proc: uuid, pid: self.pid, v: 1, call: scope.callId };
  core.ports.journal.note([{ ...record, kind: "permit.ask", body: { ...question, always } }]);
  const given = await self.stillness.suspend(core.asks.ask(self, { ...question, options }, pass.signal));
  core.ports.journal.note([{ ...record, kind: "permit.answer", body: given }]);
  if (given === NOBODY) throw refused(core, self, effectful, scope, headless(decision, self.seed.mode));
  if (given.answer === "no") {
    const words = given.words === "" ? "" : `: ${given.words}`;
    throw refused(core, self, effectful, scope, `Permission denied by user${words}`);
  }
  if (given.answer !== "always" || always === null) return;
  // in the history of the session's own process, whichever of its descendants asked: there a later daemon looks for it
  const { session } = self.seed;
  const grant = { rule: always, scope: "session" };
  await core.journalWatch.append(self, effectful.syscall, pass.signal, [
    { ...record, ...session.owner, kind: "grant.add", body: grant },
  ]);
  session.addGrant(always);
}

/** Names the flag and the setting that would let it happen: the person reads this in the model's answer or the trace. */
function headless({ message, always, isHard }: AskDecision, mode: PermissionMode): string {
  const why = `Permission denied: ${message}. It would be asked in mode ${mode}, but no person is attached who could answer. `;
  if (isHard === true) return `${why}No mode and no rule allows it: run crux on a terminal to be asked`;
  const rule =
    always === null ? "" : `, or the rule ${JSON.stringify(always)} under permissions.allow in settings.json`;
  return `${why}To allow it: run with --permission-mode accept_edits (file edits) or bypass (everything)${rule}`;
}

/** The person hears of it too, whatever the model makes of the answer. */
function refused(core: Core, self: Process, at: Effectful, scope: Scope, message: string): SyscallError {
  const { pid } = self;
  const what = describe(scope.tool, at).text;
  self.log("warn", `denied ${what} (${message})`, core.ports.clock.mono());
  return new SyscallError({ syscall: at.syscall, pid, device: at.device, code: "PERMISSION", message });
}
