/**
 * One effect: permit, reserve, journal the intent, act, journal the result, settle. In this order, on every path.
 * A call of a program under /bin that runs inside its own permitted call is checked against the effects permitted there
 * and belongs to that call's journal entry; it is neither asked nor journalled twice.
 */
import type { WritePlan } from "../../abi/device.ts";
import type { Charge, Effect } from "../../abi/effects.ts";
import { codeOf, messageOf, SyscallError } from "../../abi/errors.ts";
import { asCallId } from "../../abi/ids.ts";
import type { Reservation } from "../account/account.ts";
import { keepOpenLimits } from "../account/open-limits.ts";
import type { Core } from "../core.ts";
import { LIMITS } from "../limits.ts";
import type { JournalDraft } from "../ports/journal.ts";
import type { Process } from "../process/process.ts";
import type { Pass, Scope } from "./call.ts";
import { checkCovered } from "./covers.ts";
import { cancelled, held } from "./gate.ts";
import { permit } from "./permit.ts";

/** What the gate has to know of an effect before it happens. */
export interface Effectful extends WritePlan {
  /** `Open` or `Write`. */
  readonly syscall: string;
  /** The opened path. */
  readonly device: string;
  /** The arguments as text, for the journal; cut at 64 KiB. */
  readonly input: string;
}

export async function guard<T>(
  core: Core,
  self: Process,
  effectful: Effectful,
  pass: Pass,
  act: (scope: Scope) => Promise<T>,
  charge: () => Charge | undefined,
): Promise<T> {
  const effects = effectful.effects.map((effect) => resolved(core, effect));
  const perform = { core, self, effectful, pass, act, charge, workplaces: workplacesOf(core, effects) };
  if (pass.scope !== null) {
    checkCovered(self, effectful, effects, pass.scope);
    return settled(perform, pass.scope, reserve(core, self, effectful), () => []);
  }
  const tool = effectful.tool ?? lastSegment(effectful.device);
  const asked: Scope = { callId: asCallId(`c_${core.ports.nonce()}`), tool, effects };
  const scope: Scope = { ...asked, sandbox: await permit(core, self, effectful, asked, pass) };
  await untilMayBegin(core, self, effectful, pass.signal);
  const reservation = reserve(core, self, effectful);
  try {
    await journalIntent(core, self, effectful, scope, pass.signal, reservation);
  } catch (error) {
    reservation?.settle(0);
    keepOpenLimits(core, self.seed.account);
    throw error;
  }
  return settled(perform, scope, reservation, (outcome) => resultOf(self, effectful, scope, outcome));
}

interface Perform<T> {
  readonly core: Core;
  readonly self: Process;
  readonly effectful: Effectful;
  readonly pass: Pass;
  /** Where commands would work, symlinks resolved, as it was permitted. */
  readonly workplaces: readonly string[];
  act(scope: Scope): Promise<T>;
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
    reservation?.settle(cost?.tokens ?? 0);
    if (reservation !== undefined) keepOpenLimits(core, self.seed.account);
    self.tokensUsed += cost?.tokens ?? 0;
    const used = reservation !== undefined && cost !== undefined ? useOfLimits(self) : [];
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
    result = await act(scope);
  } catch (error) {
    close({ error }, costOf(core, charge, reservation));
    throw error;
  }
  close({}, costOf(core, charge, reservation));
  return result;
}

/** What is used of a limit outlives the daemon, in the history of the process whose limit it is. */
function useOfLimits({ seed }: Process): readonly JournalDraft[] {
  return seed.account.limited().flatMap((account): JournalDraft[] => {
    const { used } = account.view();
    account.onUse?.(used);
    return account.owner === null ? [] : [{ ...account.owner, kind: "acct.settle", v: 1, body: { used } }];
  });
}

/** A device that cannot say what it cost has cost what was set aside. */
function costOf(
  core: Core,
  charge: () => Charge | undefined,
  reservation: Reservation | undefined,
): Charge | undefined {
  try {
    return charge();
  } catch (error) {
    core.ports.log("error", `charge: ${messageOf(error)}`);
    return reservation === undefined ? undefined : { tokens: reservation.tokens, usd: null };
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

function resolved(core: Core, effect: Effect): Effect {
  if (effect.kind !== "read" && effect.kind !== "write") return effect;
  return { ...effect, real: core.ports.realPath(effect.path) };
}

function reserve(core: Core, self: Process, effectful: Effectful): Reservation | undefined {
  const want = effectful.reserve?.tokens ?? 0;
  if (want === 0) return undefined;
  const reservation = self.seed.account.reserve(want, effectful.reserveLeast ?? want);
  keepOpenLimits(core, self.seed.account);
  if (reservation !== undefined) return reservation;
  const { limit, used, reserved } = self.seed.account.view();
  const message = `budget exceeded: limit ${limit}, used ${used}, reserved ${reserved}, asked ${want} tokens`;
  throw new SyscallError({
    syscall: effectful.syscall,
    pid: self.pid,
    device: effectful.device,
    code: "BUDGET",
    message,
  });
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
  const reserved = reservation === undefined ? {} : { reserved: reservation.tokens };
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
