import type { Pid, ProcUuid } from "../../abi/ids.ts";
import type { JournalDraft } from "../ports/journal.ts";

/** Who receives messages. */
export interface Taker {
  readonly pid: Pid;
  readonly seed: { readonly uuid: ProcUuid };
  /** Received, and not journalled yet. */
  takenMail: readonly number[];
}

/** The records of the messages that a process has received since it was asked last. */
export function takenDrafts(self: Taker): JournalDraft[] {
  const { takenMail, pid, seed } = self;
  self.takenMail = [];
  return takenMail.map((seq) => ({ proc: seed.uuid, pid, kind: "mail.done", v: 1, body: { seq } }));
}
