/**
 * Messages that a process has received but whose receipt is not journalled yet: that is done with the first context
 * record after it, or at the next receipt.
 */
import type { Pid, ProcUuid } from "../../abi/ids.ts";
import type { JournalDraft } from "../ports/journal.ts";

/** A process that receives messages. */
export interface Taker {
  readonly pid: Pid;
  readonly seed: { readonly uuid: ProcUuid };
}

/** The number of the last received message, by process. */
const TAKEN = new WeakMap<Taker, number>();

/** The record of the receipt that is not journalled yet, if any: at most one. */
export function takenDrafts(self: Taker): JournalDraft[] {
  const seq = TAKEN.get(self);
  if (seq === undefined) return [];
  TAKEN.delete(self);
  return [{ proc: self.seed.uuid, pid: self.pid, kind: "mail.done", v: 1, body: { seq } }];
}

/** Remembers the receipt of message `seq`; the caller has journalled the one before. */
export function tookMail(self: Taker, seq: number): void {
  TAKEN.set(self, seq);
}
