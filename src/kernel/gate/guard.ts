/**
 * One effect: permit, reserve, journal the intent, act, journal the result, settle. In this order, on every path.
 * A call of a program under /bin that runs inside its own permitted call is checked against the effects permitted there
 * and belongs to that call's journal entry; it is neither asked nor journalled twice.
 */
import type { Charge, Effect } from "../../abi/effects.ts";
import { codeOf, messageOf, SyscallError } from "../../abi/errors.ts";
import { asCallId } from "../../abi/ids.ts";
import { partOfInflow, takeOrigins } from "../../consent/labels/origins.ts";
import { withQuoted } from "../../consent/labels/quoted.ts";
import { pathProblem } from "../../lib/path-form.ts";
import { microUsd } from "../../lib/usd.ts";
import { Reservation } from "../account/account.ts";
import { grantedCharge, reserve, reservedBody, settle } from "../account/pay.ts";
import { relieved } from "../account/raise.ts";
import type { Core } from "../core.ts";
import { LIMITS } from "../limits.ts";
import type { JournalDraft } from "../ports/journal.ts";
import type { Process } from "../process/process.ts";
import type { Pass } from "./call.ts";
import { checkCovered } from "./covers.ts";
import { requestOf } from "./decide.ts";
import type { Effectful } from "./effectful.ts";
import { withMember } from "./fellow-mail.ts";
import { cancelled, held } from "./gate.ts";
import { allowing, permit } from "./permit.ts";
import type { Scope } from "./scope.ts";
import { withShown } from "./shown.ts";

export async function guard<T>(
  core: Core,
  self: Process,
  effectful: Effectful,
  pass: Pass,
  act: (scope: Scope, granted?: Charge) => Promise<T>,
  charge: () => Charge | undefined,
): Promise<T> {
  for (const effect of effectful.effects) checkForm(self, effectful, effect);
  const declared = withShown(core, self, effectful.effects);
  const effects = declared.map((effect) =>
    withMember(core, self, withQuoted(core, self, resolved(core, effect))),
  );
  const perform = { core, self, effectful, pass, act, charge, workplaces: workplacesOf(core, effects) };
  if (pass.scope !== null) {
    checkCovered(self, effectful, effects, pass.scope);
    const inflow = partOfInflow(core, self, pass.scope, requestOf({ ...pass.scope, effects }));
    const inner = inflow === undefined ? pass.scope : { ...pass.scope, inflow };
    return settled(perform, inner, await paid(core, self, effectful, pass.signal), () => []);
  }
  const tool = effectful.tool ?? lastSegment(effectful.device);
  const own = effectful.readOnly === true ? { readOnly: true } : {};
  const asked: Scope = { callId: asCallId(`c_${core.ports.nonce()}`), tool, effects, ...own };
  const given: Scope = { ...asked, ...(await permit(core, self, effectful, asked, pass)) };
  await untilMayBegin(core, self, effectful, pass.signal);
  const origins = await takeOrigins(core, self, requestOf(given), given.callId);
  const scope: Scope = {
    ...given,
    ...(origins.isSecret ? { isSecret: true } : {}),
    ...(origins.inflow === undefined ? {} : { inflow: origins.inflow }),
  };
  const reservation = await paid(core, self, effectful, pass.signal);
  try {
    await journalIntent(core, self, effectful, scope, pass.signal, reservation);
  } catch (error) {
    settle(core, self, reservation, effectful, undefined);
    throw error;
  }
  const release = attended(core, self, scope, pass);
  try {
    return await settled(perform, scope, reservation, (outcome) => resultOf(self, effectful, scope, outcome));
  } finally {
    release();
    await origins.kept();
  }
}

/** A command under way ends when a person takes back what alone allowed it, if the person wants that. */
function attended(core: Core, self: Process, scope: Scope, { cancel }: Pass): () => void {
  if (cancel === undefined || !scope.effects.some(({ kind }) => kind === "exec")) return () => {};
  return core.grants.attend(self, allowing(core, self, scope), cancel);
}

interface Perform<T> {
  readonly core: Core;
  readonly self: Process;
  readonly effectful: Effectful;
  readonly pass: Pass;
  /** Where commands would work, symlinks resolved, as it was permitted. */
  readonly workplaces: readonly string[];
  act(scope: Scope, granted?: Charge): Promise<T>;
  charge(): Charge | undefined;
}

interface Outcome {
  readonly error?: unknown;
  readonly cost?: Charge;
}

/** Acts, if the effect is still wanted and still the one that was permitted; whatever comes, its cost is settled. */
async function settled<T>(
  { core, self, effectful, pass, workplaces, act, charge }: Perform<T>,
  scope: Scope,
  reservation: Reservation | undefined,
  record: (outcome: Outcome) => readonly JournalDraft[],
): Promise<T> {
  const close = (failure: { error?: unknown }, cost: Charge | undefined): void => {
    const used = settle(core, self, reservation, effectful, cost);
    self.tokensUsed += cost?.tokens ?? 0;
    self.microUsdUsed += microUsd(cost?.usd ?? 0);
    if (cost?.usd === null && cost.tokens > 0) self.unpricedCalls++;
    if (cost?.purpose === "main") noteAnswer(core, self, cost);
    const drafts = [...used, ...record(cost === undefined ? failure : { ...failure, cost })];
    // together: a result without its cost would be forgotten, and a cost without its result be counted twice after a crash
    if (drafts.length > 0) core.ports.journal.note(drafts);
  };
  try {
    if (self.revoked || pass.signal.aborted) throw cancelled(self, effectful.syscall);
    if (pass.scope === null) checkUnmoved(core, self, effectful, scope, workplaces);
  } catch (error) {
    close({ error }, undefined);
    throw error;
  }
  let result: T;
  try {
    result = await act(scope, reservation === undefined ? undefined : grantedCharge(reservation, effectful));
  } catch (error) {
    scope.inflow?.ended(error);
    close({ error }, costOf(core, charge, reservation, effectful));
    throw error;
  }
  scope.inflow?.ended();
  close({}, costOf(core, charge, reservation, effectful));
  return result;
}

/** Who answers is told when it is not who was asked, once for each that does. */
function noteAnswer(core: Core, self: Process, { model = "", askedModel }: Charge): void {
  if (model === "" || model === self.answeringModel) return;
  self.answeringModel = model;
  if (askedModel !== undefined)
    self.log("warn", `the model ${askedModel} was asked for; ${model} answers`, core.ports.clock.mono());
}

/** A device that cannot say what it cost has cost what was set aside. */
function costOf(
  core: Core,
  charge: () => Charge | undefined,
  reservation: Reservation | undefined,
  effectful: Effectful,
): Charge | undefined {
  try {
    return charge();
  } catch (error) {
    core.ports.log("error", `charge: ${messageOf(error)}`);
    return reservation === undefined ? undefined : grantedCharge(reservation, effectful);
  }
}

/** A question may wait for hours: CONFLICT when a permitted path has come to lie elsewhere meanwhile. */
function checkUnmoved(
  core: Core,
  self: Process,
  effectful: Effectful,
  scope: Scope,
  workplaces: readonly string[],
): void {
  const { syscall, device } = effectful;
  if (workplacesOf(core, scope.effects).some((real, i) => real !== workplaces[i])) {
    const message = "the working directory leads elsewhere than when it was permitted";
    throw new SyscallError({ syscall, pid: self.pid, device, code: "CONFLICT", message });
  }
  checkCovered(
    self,
    effectful,
    scope.effects.filter(hasPath).map((effect) => resolved(core, effect)),
    scope,
  );
}

function workplacesOf(core: Core, effects: readonly Effect[]): readonly string[] {
  return effects.flatMap((effect) => (effect.kind === "exec" ? [core.ports.realPath(effect.cwd)] : []));
}

function hasPath(effect: Effect): boolean {
  return effect.kind === "read" || effect.kind === "write";
}

/** Before anything is looked at: INVALID. */
function checkForm(self: Process, { syscall, device }: Effectful, effect: Effect): void {
  const problem = effect.kind === "read" || effect.kind === "write" ? pathProblem(effect.path) : null;
  if (problem !== null)
    throw new SyscallError({ syscall, pid: self.pid, device, code: "INVALID", message: problem });
}

function resolved(core: Core, effect: Effect): Effect {
  if (effect.kind !== "read" && effect.kind !== "write") return effect;
  return { ...effect, real: core.ports.realPath(effect.path) };
}

/** Set aside, as soon as it can be: at a limit a person may take long to answer, and what has to be so at the begin is so again. */
async function paid(
  core: Core,
  self: Process,
  effectful: Effectful,
  signal: AbortSignal,
): Promise<Reservation | undefined> {
  for (;;) {
    const got = reserve(core, self, effectful);
    if (got === undefined || got instanceof Reservation) return got;
    await relieved(core, self, got, effectful, signal);
    await untilMayBegin(core, self, effectful, signal);
  }
}

/**
 * It may have waited long for its turn or for a person: a process that is paused begins nothing, nor does one whose intent the
 * journal could not take. A mere read needs no intent.
 */
async function untilMayBegin(
  core: Core,
  self: Process,
  { syscall, effectClass }: Effectful,
  signal: AbortSignal,
): Promise<void> {
  do {
    if (self.paused !== null) await held(self, syscall, signal);
    if (effectClass !== "none") await core.journalWatch.held(self, syscall, signal);
  } while (self.paused !== null);
}

/** Synced before the act wherever the effect cannot simply be asked again. */
async function journalIntent(
  core: Core,
  self: Process,
  effectful: Effectful,
  scope: Scope,
  signal: AbortSignal,
  reservation: Reservation | undefined,
): Promise<void> {
  if (effectful.effectClass === "none") return;
  const { tool, callId, effects } = scope;
  const input = effectful.input.slice(0, LIMITS.journalArgChars);
  const reserved = reservation === undefined ? {} : reservedBody(reservation);
  const body = { tool, device: effectful.device, class: effectful.effectClass, effects, input, ...reserved };
  const { uuid } = self.seed;
  await core.journalWatch.append(self, effectful.syscall, signal, [
    { proc: uuid, pid: self.pid, kind: "call.intent", v: 1, call: callId, body },
  ]);
}

function resultOf(
  self: Process,
  effectful: Effectful,
  scope: Scope,
  { error, cost }: Outcome,
): readonly JournalDraft[] {
  if (effectful.effectClass === "none") return [];
  const outcome =
    error === undefined
      ? { ok: true }
      : { ok: false, code: codeOf(error), message: messageOf(error).slice(0, LIMITS.journalWordsChars) };
  const body = { ...outcome, ...(cost === undefined ? {} : { cost }) };
  const { uuid } = self.seed;
  return [{ proc: uuid, pid: self.pid, kind: "call.result", v: 1, call: scope.callId, body }];
}

function lastSegment(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
