import type { JournalDraft } from "../ports/journal.ts";
import type { Process } from "../process/process.ts";

/** The records of the messages that a process has received since it was asked last. */
export function takenDrafts(proc: Process): JournalDraft[] {
  const { takenMail, pid } = proc;
  proc.takenMail = [];
  return takenMail.map((seq) => ({ proc: proc.seed.uuid, pid, kind: "mail.done", v: 1, body: { seq } }));
}
