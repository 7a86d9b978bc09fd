/** Room for what ends or holds a process, where the journal has none: `store/` implements it. */
import type { ProcUuid } from "../../abi/ids.ts";
import type { JournalDraft } from "./journal.ts";

export type KeptEnd = Pick<JournalDraft, "proc" | "pid" | "body"> & {
  readonly kind: "signal" | "process.exited";
};

export interface Ends {
  /** True: it is synced, and will be in the journal when that takes records again. */
  keep(draft: KeptEnd): boolean;
  /** The end of a process that is kept here and not yet in the journal. */
  exitOf(proc: ProcUuid): { readonly code: number; readonly reason: string } | undefined;
}
