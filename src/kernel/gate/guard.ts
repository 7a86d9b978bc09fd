/**
 * One effect: permit, wait for a slot, reserve, journal the intent, act, journal the result, settle, free the slot. In this
 * order, on every path.
 * A call of a program under /bin that runs inside its own permitted call is checked against the effects permitted there
 * and belongs to that call's journal entry; it is neither asked nor journalled twice.
 */
import type { Charge, Effect } from "../../abi/effects.ts";
import { codeOf, messageOf, SyscallError } from "../../abi/errors.ts";
import { asCallId } from "../../abi/ids.ts";
import { pathProblem } from "../../lib/path-form.ts";
import { isUnlimited, type Reservation } from "../account/account.ts";
import { grantedCharge, reservedBody } from "../account/pay.ts";
import { isModelCall } from "../facts/intents.ts";
import { LIMITS } from "../limits.ts";
import type { JournalDraft, RecordKind } from "../ports/journal.ts";
import { costOf, means, settled, untilMayBegin } from "./cost.ts";
import { checkCovered } from "./covers.ts";
import type { Effectful } from "./effectful.ts";
import { withReceivers } from "./fellow-mail.ts";
import { cancelled } from "./gate.ts";
import { decided, type KernelPass, type Passage } from "./passage.ts";
import { allowing, permit } from "./permit.ts";
import { withQuoted } from "./quoted.ts";
import type { Scope } from "./scope.ts";
import { withShown } from "./shown.ts";
import { consumedBy } from "./slot.ts";

/** Performs the effect once it is permitted. `granted`: the amount reserved for it. */
type Act<T> = (scope: Scope, granted?: Charge) => Promise<T>;

export async function guard<T>(pass: KernelPass, effectful: Effectful, act: Act<T>): Promise<T> {
  const effects = effectsOf(pass, effectful);
  if (pass.scope !== null) return part({ ...pass, effectful, scope: pass.scope }, effects, act);
  const workplaces = workplacesOf(pass, effects);
  const asked: Passage = { ...pass, effectful, scope: scopeOf(pass, effectful, effects) };
  const permitted = decided(asked, await permit(asked));
  await untilMayBegin(permitted);
  const intake = await pass.core.consent.intake(permitted);
  const { reservation, slot } = await means(permitted);
  using _held = slot;
  const passage = decided(permitted, { ...intake.scope, ...(slot === undefined ? {} : { slot }) });
  await journalIntent(passage, reservation);
  const release = attended(passage);
  const check = (): void => checkUnmoved(passage, workplaces);
  const result = (outcome: Outcome): readonly JournalDraft[] => resultOf(passage, outcome);
  try {
    return await done(passage, reservation, { check, act, result });
  } finally {
    release();
    await intake.kept();
  }
}

/** A program within its own permitted call: the effects permitted for that call must cover it. */
async function part<T>(passage: Passage, effects: readonly Effect[], act: Act<T>): Promise<T> {
  const { core, self, effectful, scope } = passage;
  checkCovered(scope, effects, { self, ...effectful });
  const inflow = core.consent.partOfInflow(passage, effects);
  const { reservation, slot } = await means(passage);
  using _held = slot;
  const more = { ...(inflow === undefined ? {} : { inflow }), ...(slot === undefined ? {} : { slot }) };
  return await done(decided(passage, more), reservation, { check: () => {}, act, result: () => [] });
}

interface Outcome {
  readonly error?: unknown;
  readonly cost?: Charge;
}

interface Deed<T> {
  /** Throws if the paths are no longer those that were permitted. */
  readonly check: () => void;
  readonly act: Act<T>;
  /** The result records for the journal. */
  readonly result: (outcome: Outcome) => readonly JournalDraft[];
}

/** Acts if the call is neither cancelled nor changed since it was permitted; its cost is settled on every path. */
async function done<T>(passage: Passage, reservation: Reservation | undefined, deed: Deed<T>): Promise<T> {
  const { core, self, effectful, scope, signal } = passage;
  const close = (failure: { error?: unknown }, cost?: Charge): void => {
    const used = settled(passage, reservation, cost);
    if (cost !== undefined || effectful.charge === undefined) scope.slot?.ended(consumedBy(cost));
    const drafts = [...used, ...deed.result(cost === undefined ? failure : { ...failure, cost })];
    // in one batch: after a crash, a result without its cost would go uncharged, and a cost without its result be
    // counted twice
    if (drafts.length > 0) core.ports.journal.note(drafts);
  };
  try {
    if (self.life.isClosed || signal.aborted) throw cancelled(self, effectful.syscall);
    deed.check();
  } catch (error) {
    close({ error });
    throw error;
  }
  let result: T;
  try {
    const granted = reservation === undefined ? undefined : grantedCharge(reservation, effectful);
    result = await deed.act(scope, granted);
  } catch (error) {
    scope.inflow?.ended(error);
    close({ error }, costOf(passage, reservation));
    throw error;
  }
  scope.inflow?.ended();
  close({}, costOf(passage, reservation));
  return result;
}

/** Stops a running command when the user removes the grant that alone allowed it, if the user chose to. */
function attended(passage: Passage): () => void {
  const { core, self, scope, cancel } = passage;
  if (cancel === undefined || !scope.effects.some(({ kind }) => kind === "exec")) return () => {};
  return core.grants.attend(self, allowing(passage), cancel);
}

/** The effects as the policy sees them, whatever the caller claims. INVALID: a malformed path, before any lookup. */
function effectsOf(pass: KernelPass, { syscall, device, effects }: Effectful): readonly Effect[] {
  const { core, self } = pass;
  for (const effect of effects) {
    const problem = hasPath(effect) ? pathProblem(effect.path) : null;
    if (problem !== null)
      throw new SyscallError({ syscall, pid: self.pid, device, code: "INVALID", message: problem });
  }
  return withShown(core, self, effects).map((effect) =>
    withReceivers(core, self, withQuoted(core, self, resolved(pass, effect))),
  );
}

/** A call that starts here and is not permitted yet. */
function scopeOf({ core }: KernelPass, effectful: Effectful, effects: readonly Effect[]): Scope {
  const { tool = lastSegment(effectful.device) } = effectful;
  const readOnly = effectful.readOnly === true ? { readOnly: true } : {};
  return { callId: asCallId(`c_${core.ports.nonce()}`), tool, effects, ...readOnly };
}

function lastSegment(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

type PathEffect = Extract<Effect, { kind: "read" | "write" }>;

function hasPath(effect: Effect): effect is PathEffect {
  return effect.kind === "read" || effect.kind === "write";
}

function resolved({ core }: KernelPass, effect: Effect): Effect {
  return hasPath(effect) ? { ...effect, real: core.ports.realPath(effect.path) } : effect;
}

/** Where commands would run, symlinks resolved. */
function workplacesOf({ core }: KernelPass, effects: readonly Effect[]): readonly string[] {
  return effects.flatMap((effect) => (effect.kind === "exec" ? [core.ports.realPath(effect.cwd)] : []));
}

/** A question may wait for hours: CONFLICT if a permitted path leads elsewhere by now. */
function checkUnmoved(passage: Passage, workplaces: readonly string[]): void {
  const { self, effectful, scope } = passage;
  const { syscall, device } = effectful;
  if (workplacesOf(passage, scope.effects).some((real, i) => real !== workplaces[i])) {
    const message = "the working directory leads elsewhere than when it was permitted";
    throw new SyscallError({ syscall, pid: self.pid, device, code: "CONFLICT", message });
  }
  const now = scope.effects.filter(hasPath).map((effect) => resolved(passage, effect));
  checkCovered(scope, now, { self, syscall, device });
}

/**
 * Synced before the act if the effect cannot simply be repeated. If the journal refuses the intent, the cost is zero.
 * A command whose sandbox only lets it read changes nothing: its intent is written, before all that follows from it.
 * A model call changes nothing outside but what was spent: its intent is written, and its sync runs while the request
 * is on its way. If a crash loses the intent, one call is not counted; so under any limit it waits like all others, and
 * no crash lets a budget be overrun.
 */
async function journalIntent(passage: Passage, reservation: Reservation | undefined): Promise<void> {
  const { core, self, effectful, scope, signal } = passage;
  const { device, effectClass } = effectful;
  if (effectClass === "none") return;
  const { tool, effects } = scope;
  const input = effectful.input.slice(0, LIMITS.journalArgChars);
  const amounts = reservation === undefined ? {} : reservedBody(reservation);
  const body = { tool, device, class: effectClass, effects, input, ...amounts };
  try {
    const intent = draftOf(passage, "call.intent", body);
    const isWell = core.ports.journal.state.state === "well";
    if (isWell && isConfinedToReading(scope)) core.ports.journal.note([intent]);
    else if (isWell && isModelCall(body) && isUnlimited(self.seed.account)) core.journalWatch.begin(intent);
    else await core.journalWatch.append(self, effectful.syscall, signal, [intent]);
  } catch (error) {
    settled(passage, reservation);
    throw error;
  }
}

/**
 * Whether all that it does is to run programs that can change nothing but the temporary folder of the process, and nobody's word was
 * spent on it.
 */
function isConfinedToReading({ sandbox, effects, isGranted }: Scope): boolean {
  const isClosed =
    isGranted !== true && sandbox != null && sandbox.write.length === 0 && sandbox.network === "off";
  return isClosed && effects.every(({ kind }) => kind === "exec" || kind === "read");
}

function resultOf(passage: Passage, { error, cost }: Outcome): readonly JournalDraft[] {
  if (passage.effectful.effectClass === "none") return [];
  const outcome =
    error === undefined
      ? { ok: true }
      : { ok: false, code: codeOf(error), message: messageOf(error).slice(0, LIMITS.journalWordsChars) };
  return [draftOf(passage, "call.result", { ...outcome, ...(cost === undefined ? {} : { cost }) })];
}

function draftOf({ self, scope }: Passage, kind: RecordKind, body: object): JournalDraft {
  return { proc: self.seed.uuid, pid: self.pid, kind, v: 1, call: scope.callId, body };
}
