/** The first step of the guard: allow, deny, or ask the user. */
import { SyscallError } from "../../abi/errors.ts";
import type { Remedy } from "../../abi/fact.ts";
import { PID_KERNEL } from "../../abi/ids.ts";
import type { SandboxProfile } from "../../abi/sandbox.ts";
import type { Decision, Permit } from "../ports/permit.ts";
import type { Allows } from "../process/rights/granted.ts";
import { beginSkills } from "../process/skills-in-use.ts";
import { scratchpadOf } from "../process/tree/scratchpad.ts";
import { confine, sandboxGiven } from "./confine.ts";
import { type Claim, decide } from "./decide.ts";
import { noteDenial, noteReply, noteSuccess, orAsked } from "./denied.ts";
import type { AskDecision } from "./describe.ts";
import { Edited } from "./edited.ts";
import { decided, type Passage } from "./passage.ts";
import { refused, remedyOf, withheld } from "./refused.ts";
import type { Scope } from "./scope.ts";
import { unseenTarget } from "./unseen.ts";

/**
 * Returns when the effects may happen, with the sandbox for the OS processes of the call; otherwise PERMISSION with a
 * message for the model. The kernel itself may do everything, without a sandbox.
 */
export async function permit(passage: Passage): Promise<Given> {
  const { core, self, effectful, scope } = passage;
  if (self.pid === PID_KERNEL || effectful.effects.length === 0) return { sandbox: null };
  const policy = await readyPolicy(passage);
  const unseen = unseenTarget(passage, policy);
  if (unseen !== null) throw withheld(passage, unseen, "CONFLICT");
  noteReply(self, scope);
  const confined = confine(passage, decide(passage, undefined, policy), policy);
  const decision = orAsked(passage, confined.decision);
  const full = decision.behavior === "deny" ? null : await fullScratchpad(passage, policy, confined.sandbox);
  if (full !== null) throw withheld(passage, full, "BUDGET");
  if (decision.behavior === "deny") throw denied(passage, decision);
  if (decision.behavior === "ask") return afterAsking(passage, decision);
  noteSuccess(core, self, scope.tool);
  beginSkills(self, scope.effects, false);
  const isGranted = core.grants.spend(self, allowing(passage));
  core.consent.passed(passage);
  return { sandbox: confined.sandbox, ...quietOf(decision), ...(isGranted ? { isGranted } : {}) };
}

/** Why a command may not write to the scratchpad of its session now: it is full, and the command removes nothing. */
async function fullScratchpad(
  { core, self, scope: { effects } }: Passage,
  policy: Permit,
  sandbox: SandboxProfile | null,
): Promise<string | null> {
  const { scratchpads } = core.ports;
  const path = scratchpadOf(core.ports, self);
  if (scratchpads === undefined || path === null || !effects.some(({ kind }) => kind === "exec")) return null;
  const mayWrite = sandbox === null || sandbox.write.includes(path);
  return mayWrite && (policy.destroys?.(effects) ?? null) === null ? scratchpads.full(path) : null;
}

/** The policy of this moment, with what it needs for these effects; finding out that it still holds costs looks. */
async function readyPolicy({ core, self, scope }: Passage): Promise<Permit> {
  const policy = core.ports.permitFor(self.seed.cwd);
  const loading = policy.ready?.(scope.effects) ?? null;
  if (loading === null) return policy;
  await loading;
  return core.ports.permitFor(self.seed.cwd);
}

/** What the OS processes of a permitted call are given. */
type Given = Pick<Scope, "env" | "isGranted"> & { readonly sandbox: SandboxProfile | null };

function quietOf({ env }: { readonly env?: Readonly<Record<string, string>> }): Pick<Scope, "env"> {
  return env === undefined ? {} : { env };
}

/** The classifier answers where it may, otherwise the user. */
async function afterAsking(passage: Passage, decision: AskDecision): Promise<Given> {
  const { core, self, scope } = passage;
  const shown = await lookAhead(passage);
  const asked = await core.consent.judge(passage, decision);
  if (asked?.behavior === "deny") throw denied(passage, asked);
  if (asked === null) noteSuccess(core, self, scope.tool);
  else if (!core.asks.canAsk(self)) throw unasked(passage, asked);
  else await ask(shown, asked);
  beginSkills(self, scope.effects, asked !== null);
  core.consent.passed(passage);
  // decided by the current rights: the user may have taken minutes to answer
  return { sandbox: sandboxGiven(passage), ...quietOf(decision), isGranted: true };
}

/**
 * A call that must fail anyway fails before the user is asked. The look ahead reads only what the process may read
 * without asking; if reading is itself the question, nothing is read. Returns the passage with the view that the look
 * ahead gave.
 */
async function lookAhead(passage: Passage): Promise<Passage> {
  const { core, self, effectful, scope } = passage;
  if (effectful.prepare === undefined) return passage;
  const reads = scope.effects.filter((effect) => effect.kind === "read");
  const isFree = reads.every((read) => decide(decided(passage, { effects: [read] })).behavior === "allow");
  const view = isFree ? await effectful.prepare(core.handle(self, { ...scope, effects: reads })) : undefined;
  return view === undefined ? passage : { ...passage, effectful: { ...effectful, view } };
}

/** Tests whether the claim would be allowed under the given user grants. */
export function allowing(claim: Claim): Allows {
  return (granted) => decide(claim, granted).behavior === "allow";
}

/**
 * Returns when the user has allowed it, the paths are still those asked about, and it was not denied meanwhile. Throws
 * `Edited` if the user changed the arguments: the call then starts over.
 */
async function ask(passage: Passage, decision: AskDecision): Promise<void> {
  const { core, self, effectful } = passage;
  const said = await core.consent.ask(passage, decision);
  switch (said.is) {
    case "unanswered":
      throw unasked(passage, decision, said.why);
    case "no":
      throw withheld(passage, `Permission denied by user${said.words === "" ? "" : `: ${said.words}`}`);
    case "edited":
      throw new Edited(said.input);
    case "moved": {
      const { syscall, device } = effectful;
      const message = "the path leads elsewhere than when it was permitted";
      throw new SyscallError({ syscall, pid: self.pid, device, code: "CONFLICT", message });
    }
    case "yes": {
      const now = decide(passage);
      if (now.behavior === "deny" && decision.reason.kind !== "denials") throw denied(passage, now);
    }
  }
}

function denied(passage: Passage, deny: Extract<Decision, { behavior: "deny" }>): SyscallError {
  const { core, self, scope } = passage;
  const { message: reason, code } = deny;
  if (code !== undefined) return withheld(passage, reason, code);
  const message = `${reason}${noteDenial(core, self, scope.tool)}`;
  return refused(passage, { message, reason, remedy: remedyOf(passage) });
}

/** `why`: the reason why the question was not answered. */
function unasked(
  passage: Passage,
  { message: reason, choices }: AskDecision,
  why = "nobody is attached to approve it",
): SyscallError {
  const { core, self, scope } = passage;
  const remedy = remedyOf(passage);
  const more = choices === undefined ? "" : `; ${choices}`;
  const words = `Permission denied: ${reason}${more}. It needs approval in ${self.mode} mode, and ${why}. ${allowedBy(remedy)}`;
  const message = `${words}${noteDenial(core, self, scope.tool)}`;
  return refused(passage, { message, reason, remedy, isQuestion: true });
}

/** For the model, which can pass it on to the user. */
function allowedBy(remedy: Remedy | null): string {
  if (remedy === null) return "Only the user can allow it, when asked";
  if ("mode" in remedy) return `It is allowed in ${remedy.mode} mode`;
  return `It is allowed by ${remedy.rules.length === 1 ? "the rule" : "the rules"} ${remedy.rules.join(" and ")}`;
}
