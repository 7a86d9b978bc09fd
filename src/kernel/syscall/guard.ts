/**
 * One effect: permit, reserve, journal the intent, act, journal the result, settle. In this order, on every path.
 * A call of a program under /bin that runs inside its own permitted call is checked against the effects permitted there
 * and belongs to that call's journal entry; it is neither asked nor journalled twice.
 */
import type { WritePlan } from "../../abi/device.ts";
import type { Charge, Effect } from "../../abi/effects.ts";
import { codeOf, messageOf, SyscallError } from "../../abi/errors.ts";
import { asCallId, type CallId } from "../../abi/ids.ts";
import type { Reservation } from "../account/account.ts";
import type { Core } from "../core.ts";
import { LIMITS } from "../limits.ts";
import type { Process } from "../process/process.ts";
import type { Pass, Scope } from "./call.ts";
import { checkCovered } from "./covers.ts";
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

export interface Guarded<T> {
  readonly result: T;
  readonly callId: CallId;
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
  if (pass.scope !== null) {
    checkCovered(self, effectful, effects, pass.scope);
    return act(pass.scope);
  }
  const tool = effectful.tool ?? lastSegment(effectful.device);
  const scope: Scope = { callId: asCallId(`c_${core.ports.nonce()}`), tool, effects };
  await permit(core, self, effectful, scope, pass);
  const reservation = reserve(self, effectful);
  try {
    await journalIntent(core, self, effectful, scope);
    const result = await act(scope);
    settle(core, self, effectful, scope, reservation, charge(), undefined);
    return result;
  } catch (error) {
    settle(core, self, effectful, scope, reservation, charge(), error);
    throw error;
  }
}

function resolved(core: Core, effect: Effect): Effect {
  if (effect.kind !== "read" && effect.kind !== "write") return effect;
  return { ...effect, real: core.ports.realPath(effect.path) };
}

function reserve(self: Process, effectful: Effectful): Reservation | undefined {
  const want = effectful.reserve?.tokens ?? 0;
  if (want === 0) return undefined;
  const reservation = self.seed.account.reserve(want, effectful.reserveLeast ?? want);
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

/** Synced before the act wherever the effect cannot simply be asked again. */
async function journalIntent(core: Core, self: Process, effectful: Effectful, scope: Scope): Promise<void> {
  if (effectful.effectClass === "none") return;
  const { tool, callId, effects } = scope;
  const input = effectful.input.slice(0, LIMITS.journalArgChars);
  const body = { tool, device: effectful.device, class: effectful.effectClass, effects, input };
  const { uuid } = self.seed;
  await core.ports.journal.append([
    { proc: uuid, pid: self.pid, kind: "call.intent", v: 1, call: callId, body },
  ]);
}

function settle(
  core: Core,
  self: Process,
  effectful: Effectful,
  scope: Scope,
  reservation: Reservation | undefined,
  cost: Charge | undefined,
  error: unknown,
): void {
  reservation?.settle(cost?.tokens ?? 0);
  self.tokensUsed += cost?.tokens ?? 0;
  if (effectful.effectClass === "none") return;
  const outcome =
    error === undefined ? { ok: true } : { ok: false, code: codeOf(error), message: messageOf(error) };
  const body = { ...outcome, ...(cost === undefined ? {} : { cost }) };
  const { uuid } = self.seed;
  core.ports.journal.note([
    { proc: uuid, pid: self.pid, kind: "call.result", v: 1, call: scope.callId, body },
  ]);
}

function lastSegment(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
