/** The cost of an effect: reserved before it begins, settled when it is over. */
import type { Charge } from "../../abi/effects.ts";
import { messageOf } from "../../abi/errors.ts";
import { Reservation } from "../account/account.ts";
import { grantedCharge, reserve, settle } from "../account/pay.ts";
import { relieved } from "../account/raise.ts";
import type { JournalDraft } from "../ports/journal.ts";
import type { Process } from "../process/process.ts";
import type { Slot } from "../schedule/scheduler.ts";
import { held } from "./gate.ts";
import type { Passage } from "./passage.ts";
import { slotFor } from "./slot.ts";

/** What a call holds while it is made. */
interface Means {
  readonly reservation: Reservation | undefined;
  readonly slot: Slot | undefined;
}

/**
 * Waits for a slot, then until it can reserve. The user may take long to answer at a limit, and nothing begins in a pause:
 * the slot is given back meanwhile, and all conditions are then checked again.
 */
export async function means(passage: Passage): Promise<Means> {
  const { core, self, effectful } = passage;
  for (;;) {
    const slot = await slotFor(passage);
    const got = slot !== undefined && isHeld(passage) ? "held" : reserve(core, self, effectful);
    if (got === undefined || got instanceof Reservation) return { reservation: got, slot };
    slot?.giveBack();
    if (got !== "held") await relieved(passage, got);
    await untilMayBegin(passage);
  }
}

/** It was paused, or the disk refuses, since it began to wait. */
function isHeld({ core, self }: Passage): boolean {
  return self.isPaused || core.ports.journal.state.state !== "well";
}

/**
 * Checked after every wait for a turn or for the user: a paused process begins nothing, nor does one whose intent the
 * journal could not take. A mere read needs no intent.
 */
export async function untilMayBegin({ core, self, effectful, signal }: Passage): Promise<void> {
  const { syscall, effectClass } = effectful;
  do {
    if (self.isPaused) await held(self, syscall, signal);
    if (effectClass !== "none") await core.journalWatch.held(self, syscall, signal);
  } while (self.isPaused);
}

/** Called once it is over. If the device cannot report its cost, the reserved amount is charged. */
export function costOf({ core, effectful }: Passage, reservation?: Reservation): Charge | undefined {
  try {
    return effectful.charge?.();
  } catch (error) {
    core.ports.log("error", `charge: ${messageOf(error)}`);
    return reservation === undefined ? undefined : grantedCharge(reservation, effectful);
  }
}

/** Settles the reservation and returns the records for the journal. Without a cost, nothing was done. */
export function settled(passage: Passage, reservation?: Reservation, cost?: Charge): readonly JournalDraft[] {
  const { core, self } = passage;
  const used = settle(passage, reservation, cost);
  if (cost !== undefined) self.used.add(cost);
  if (cost?.purpose === "main") noteAnswer(self, cost, core.ports.clock.mono());
  return used;
}

/** Logs once per model when another model than the requested one answers. */
function noteAnswer(self: Process, { model = "", askedModel }: Charge, mono: number): void {
  if (self.model.answered(model) && askedModel !== undefined)
    self.log("warn", `the model ${askedModel} was asked for; ${model} answers`, mono);
}
