/** Messages that a process has received, whose taking is not journalled yet: it goes with what the program makes of them. */
import type { Pid, ProcUuid } from "../../abi/ids.ts";
import type { JournalDraft } from "../ports/journal.ts";

/** Who receives messages. */
export interface Taker {
  readonly pid: Pid;
  readonly seed: { readonly uuid: ProcUuid };
}

/** The last that each has received. */
const TAKEN = new WeakMap<Taker, number>();

/** The records of those since it was asked last: one at most. */
export function takenDrafts(self: Taker): JournalDraft[] {
  const seq = TAKEN.get(self);
  if (seq === undefined) return [];
  TAKEN.delete(self);
  return [{ proc: self.seed.uuid, pid: self.pid, kind: "mail.done", v: 1, body: { seq } }];
}

/** The one before was dealt with. */
export function tookMail(self: Taker, seq: number): void {
  TAKEN.set(self, seq);
}
