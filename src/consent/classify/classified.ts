/**
 * Lets a model judge a call that needs approval in auto mode, and match a command against the approvals that the user
 * gave in words with a plan.
 */

import { decide } from "../../kernel/gate/decide.ts";
import { type AskDecision, effectWords } from "../../kernel/gate/describe.ts";
import type { Passage } from "../../kernel/gate/passage.ts";
import type { JudgedCall } from "../../kernel/ports/classifier.ts";
import type { Decision } from "../../kernel/ports/permit.ts";
import type { Process } from "../../kernel/process/process.ts";
import { autoRefusal, isAutoActive } from "../../kernel/process/rights/auto-mode.ts";
import { digestNow } from "../ask/question.ts";
import type { Judge } from "./judge.ts";

type Deny = Extract<Decision, { behavior: "deny" }>;

/** What judging calls needs of the kernel, beside the passage through the gate. */
export interface Reviewing {
  readonly classifications: Judge;
  readonly grants: { meanings(self: Process): readonly string[] };
}

/** null: allowed. Otherwise a denial, or still a question for the user. */
export async function classified(
  core: Reviewing,
  passage: Passage,
  decision: AskDecision,
): Promise<AskDecision | Deny | null> {
  if (decision.isHard === true || passage.core.ports.classifier === undefined) return decision;
  if (decision.isJudgeable === true) return judged(core, passage, decision);
  return (await isMeant(core, passage, decision)) ? null : decision;
}

async function judged(
  core: Reviewing,
  passage: Passage,
  decision: AskDecision,
): Promise<AskDecision | Deny | null> {
  const { self, signal } = passage;
  if (isForPerson(passage)) return decision;
  const refusal = autoRefusal(passage.core, self);
  if (refusal !== "") return told(decision, refusal);
  const before = digestNow(passage);
  const { kind, why } = await core.classifications.judge(self, callOf(passage), signal);
  const now = decide(passage);
  // the verdict counts only if the call is unchanged and the current mode still asks for it
  if (now.behavior === "deny") return now;
  const isSame = digestNow(passage) === before;
  if (now.behavior === "allow") return isSame ? null : decision;
  if (now.isJudgeable !== true || !isSame) return now;
  if (kind === "deny") {
    const message = `Permission denied: ${why}`;
    return { behavior: "deny", message, reason: { kind: "classifier", detail: why } };
  }
  return kind === "allow" && isSame ? null : told(decision, why);
}

/** After too many denials the user decides the next call, if attached. */
function isForPerson({ core, self, scope }: Passage): boolean {
  return self.seed.session.denials.shouldFallbackToPrompting(scope.tool) && core.asks.canAsk(self);
}

async function isMeant(core: Reviewing, passage: Passage, decision: AskDecision): Promise<boolean> {
  const { self, scope, signal } = passage;
  if (scope.tool !== "bash" || decision.reason.kind === "error") return false;
  const approved = core.grants.meanings(self);
  if (approved.length === 0 || autoRefusal(passage.core, self) !== "") return false;
  const before = digestNow(passage);
  const isCovered = await core.classifications.isMeant(self, { ...callOf(passage), approved }, signal);
  if (!isCovered || digestNow(passage) !== before) return false;
  const now = decide(passage);
  const isOpen = now.behavior === "allow" || (now.behavior === "ask" && now.isHard !== true);
  // an approval that was revoked meanwhile does not count
  return isOpen && core.grants.meanings(self).length === approved.length;
}

/** Calls permitted while the model judges are shown to it before its next question. */
export function notePassed({ classifications }: Pick<Reviewing, "classifications">, passage: Passage): void {
  const { core, self, effectful } = passage;
  if (core.ports.classifier === undefined || effectful.syscall !== "Write" || effectful.input === "") return;
  if (isAutoActive(core, self)) classifications.passed(self, callOf(passage));
}

function callOf({ effectful, scope }: Passage): JudgedCall {
  return { tool: scope.tool, input: effectful.input, effects: scope.effects.map(effectWords) };
}

function told(decision: AskDecision, why: string): AskDecision {
  if (why === "") return decision;
  return { ...decision, message: `${decision.message}; ${why}`, reason: { kind: "classifier", detail: why } };
}
