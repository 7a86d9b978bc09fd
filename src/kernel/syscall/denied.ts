/**
 * Counts what a session was denied, in its journal too. At the limit the model is told to change its approach; then a person
 * decides the next such call, or, where none can be asked, the run ends at its next model call.
 */
import { SyscallError } from "../../abi/errors.ts";
import type { Core } from "../core.ts";
import type { Decision } from "../ports/permit.ts";
import type { Process } from "../process/process.ts";
import type { Scope } from "./call.ts";
import type { Effectful } from "./guard.ts";

type Deny = Extract<Decision, { behavior: "deny" }>;

/** What the mode or a classifier denies, a person may allow. Rules, ceilings and protected places stay as they are. */
const SOFT: ReadonlySet<Deny["reason"]["kind"]> = new Set(["mode", "classifier", "default"]);

/** What is said to the model beside the refusal; "": nothing. */
export function noteDenial(core: Core, self: Process, tool: string): string {
  const { denials } = self.seed.session;
  denials.recordDenial(tool);
  keep(core, self);
  if (!denials.shouldFallbackToPrompting(tool)) return "";
  const count = `${tool} was denied ${denials.inARow(tool)} times in a row, ${denials.total} calls in all`;
  const words = `${count}: do not try again, change your approach`;
  if (!core.asks.canAsk(self)) denials.verdicts.set(self.pid, count);
  return ` (${words})`;
}

export function noteSuccess(core: Core, self: Process, tool: string): void {
  if (self.seed.session.denials.recordSuccess(tool)) keep(core, self);
}

/** A person has answered. */
export function clearDenials(core: Core, self: Process): void {
  if (self.seed.session.denials.clear()) keep(core, self);
}

/** After too many denials in a row, what would be denied again is asked, where a person can be. */
export function orAsked(core: Core, self: Process, tool: string, decision: Decision): Decision {
  if (decision.behavior !== "deny" || !SOFT.has(decision.reason.kind) || self.mode === "plan")
    return decision;
  const { denials } = self.seed.session;
  if (!denials.shouldFallbackToPrompting(tool) || !core.asks.canAsk(self)) return decision;
  const detail = `${denials.inARow(tool)} denials of ${tool} in a row, ${denials.total} in all`;
  return {
    behavior: "ask",
    message: `${detail}; ${decision.message}`,
    always: null,
    isHard: true,
    reason: { kind: "denials", detail },
  };
}

/** PERMISSION for the model call of a run that goes on to be denied with nobody there: said once, then counted anew. */
export function checkGoesOn(core: Core, self: Process, at: Effectful, { effects }: Scope): void {
  const { denials } = self.seed.session;
  if (denials.verdicts.size === 0 || !effects.some(({ kind }) => kind === "llm")) return;
  const words = denials.verdicts.get(self.pid);
  if (words === undefined) return;
  denials.verdicts.delete(self.pid);
  clearDenials(core, self);
  throw new SyscallError({
    syscall: at.syscall,
    pid: self.pid,
    device: at.device,
    code: "PERMISSION",
    message: `the run was ended: ${words}, and no person is attached who could answer`,
    hint: "run crux on a terminal to be asked, or allow what it needs in settings.json",
  });
}

function keep(core: Core, { seed }: Process): void {
  const { owner, denials } = seed.session;
  denials.isKnown = true;
  if (owner !== null)
    core.ports.journal.note([{ ...owner, kind: "permit.denials", v: 1, body: denials.state }]);
}
