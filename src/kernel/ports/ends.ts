/** Storage for records that end or pause a process when the journal is full: `store/` implements it. */
import type { ProcUuid } from "../../abi/ids.ts";
import type { JournalDraft } from "./journal.ts";

export type KeptEnd = Pick<JournalDraft, "proc" | "pid" | "body"> & {
  readonly kind: "signal" | "process.exited";
};

export interface Ends {
  /** True: it is synced, and is copied to the journal when that accepts records again. */
  keep(draft: KeptEnd): boolean;
  /** The end of a process that is stored here and not yet in the journal. */
  exitOf(proc: ProcUuid): { readonly code: number; readonly reason: string } | undefined;
}
