/** What a model makes of a call that would ask, in mode auto; and of a command, what a person approved in words with a plan. */

import { autoRefusal, isAutoActive } from "../../consent/classify/auto-mode.ts";
import type { Core } from "../core.ts";
import type { JudgedCall } from "../ports/classifier.ts";
import type { Decision } from "../ports/permit.ts";
import type { Process } from "../process/process.ts";
import { decide } from "./decide.ts";
import { type AskDecision, effectWords } from "./describe.ts";
import type { Effectful } from "./effectful.ts";
import { digestNow } from "./question.ts";
import type { Scope } from "./scope.ts";

type Deny = Extract<Decision, { behavior: "deny" }>;

interface Asking {
  readonly effectful: Effectful;
  readonly scope: Scope;
  readonly decision: AskDecision;
}

/** null: it may run. Else what is denied, or still a person's question. */
export async function classified(
  core: Core,
  self: Process,
  asking: Asking,
  signal: AbortSignal,
): Promise<AskDecision | Deny | null> {
  const { decision } = asking;
  if (decision.isHard === true || core.ports.classifier === undefined) return decision;
  if (decision.isJudgeable === true) return judged(core, self, asking, signal);
  return (await isMeant(core, self, asking, signal)) ? null : decision;
}

async function judged(
  core: Core,
  self: Process,
  asking: Asking,
  signal: AbortSignal,
): Promise<AskDecision | Deny | null> {
  const { effectful, scope, decision } = asking;
  if (isForPerson(core, self, scope)) return decision;
  const refusal = autoRefusal(core, self);
  if (refusal !== "") return told(decision, refusal);
  const before = digestNow(core, effectful, scope);
  const { kind, why } = await core.classifications.judge(self, callOf(effectful, scope), signal);
  const now = decide(core, self, scope);
  // what was judged is what is done, and it counts as far as the mode goes that asked for it
  if (now.behavior === "deny") return now;
  const isSame = digestNow(core, effectful, scope) === before;
  if (now.behavior === "allow") return isSame ? null : decision;
  if (now.isJudgeable !== true || !isSame) return now;
  if (kind === "deny") {
    const message = `Permission denied: ${why}`;
    return { behavior: "deny", message, reason: { kind: "classifier", detail: why } };
  }
  return kind === "allow" && isSame ? null : told(decision, why);
}

/** After too many denials the next call is a person's to decide, where one is there. */
function isForPerson(core: Core, self: Process, { tool }: Scope): boolean {
  return self.seed.session.denials.shouldFallbackToPrompting(tool) && core.asks.canAsk(self);
}

async function isMeant(core: Core, self: Process, asking: Asking, signal: AbortSignal): Promise<boolean> {
  const { effectful, scope, decision } = asking;
  if (scope.tool !== "bash" || decision.reason.kind === "error") return false;
  const approved = core.grants.meanings(self);
  if (approved.length === 0 || autoRefusal(core, self) !== "") return false;
  const before = digestNow(core, effectful, scope);
  const isCovered = await core.classifications.isMeant(self, callOf(effectful, scope), approved, signal);
  if (!isCovered || digestNow(core, effectful, scope) !== before) return false;
  const now = decide(core, self, scope);
  const isOpen = now.behavior === "allow" || (now.behavior === "ask" && now.isHard !== true);
  // taken back meanwhile, it counts no more
  return isOpen && core.grants.meanings(self).length === approved.length;
}

/** What is let through while a model judges is shown to it before what comes next. */
export function notePassed(core: Core, self: Process, effectful: Effectful, scope: Scope): void {
  if (core.ports.classifier === undefined || effectful.syscall !== "Write" || effectful.input === "") return;
  if (isAutoActive(core, self)) core.classifications.passed(self, callOf(effectful, scope));
}

function callOf({ input }: Effectful, { tool, effects }: Scope): JudgedCall {
  return { tool, input, effects: effects.map(effectWords) };
}

function told(decision: AskDecision, why: string): AskDecision {
  if (why === "") return decision;
  return { ...decision, message: `${decision.message}; ${why}`, reason: { kind: "classifier", detail: why } };
}
