/**
 * Counts the denied calls of a session, also in its journal. At the limit the model is asked to change its approach,
 * and the user decides the next such call. If nobody can be asked, each denial goes back to the model, and its loop
 * decides when to stop.
 */
import type { Journal } from "../ports/journal.ts";
import type { Decision } from "../ports/permit.ts";
import type { Process } from "../process/process.ts";
import type { Scope } from "./scope.ts";

/** The part of the kernel that records the count. */
interface Keeper {
  readonly ports: { readonly journal: Pick<Journal, "note"> };
}

interface Denied {
  readonly core: { readonly asks: { canAsk(self: Process): boolean } };
  readonly self: Process;
  readonly scope: Scope;
}

type Deny = Extract<Decision, { behavior: "deny" }>;

/**
 * Denials by mode, classifier or default, which the user may override. Rules, ceilings and protected paths are final.
 */
const SOFT: ReadonlySet<Deny["reason"]["kind"]> = new Set(["mode", "classifier", "default"]);

/** What the model reads after the denial; "": nothing. */
export function noteDenial(core: Keeper, self: Process, tool: string): string {
  const { denials } = self.seed.session;
  if (denials.recordDenial(self.pid, tool)) keep(core, self);
  if (!denials.shouldFallbackToPrompting(tool)) return "";
  const count = `${tool} was denied ${denials.inARow(tool)} times in a row, ${denials.total} calls in all`;
  return ` (${count}: do not try again, change your approach)`;
}

export function noteSuccess(core: Keeper, self: Process, tool: string): void {
  if (self.seed.session.denials.recordSuccess(tool)) keep(core, self);
}

/** Called when the user has answered. */
export function clearDenials(core: Keeper, self: Process): void {
  if (self.seed.session.denials.clear()) keep(core, self);
}

/** After too many denials in a row, turns a further soft denial into a question if the user can be asked. */
export function orAsked({ core, self, scope }: Denied, decision: Decision): Decision {
  if (decision.behavior !== "deny" || !SOFT.has(decision.reason.kind) || self.mode === "plan")
    return decision;
  const { tool } = scope;
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

/** A call to the model begins a new reply: the model has read the outcome of its last one. */
export function noteReply({ pid, seed }: Process, { effects }: Scope): void {
  if (effects.some(({ kind }) => kind === "llm")) seed.session.denials.beginReply(pid);
}

function keep(core: Keeper, { seed }: Process): void {
  const { owner, denials } = seed.session;
  denials.isKnown = true;
  if (owner !== null)
    core.ports.journal.note([{ ...owner, kind: "permit.denials", v: 1, body: denials.state }]);
}
