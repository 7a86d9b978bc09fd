/** What the thread that asks and the thread that writes say to each other. Plain data: it is cloned. */

import type { DiskReason, JournalFault, Room } from "../fault.ts";
import type { CommitMode } from "../journal/ledger.ts";
import type { JournalNotice } from "../journal/notice.ts";
import type { PackedBatches, PackedVerdicts } from "../journal/packed.ts";
import type { Identity } from "./writer.ts";

/** What the thread is started with. */
export interface WriterSeed {
  readonly dir: string;
  readonly identity: Identity;
  readonly maxBytes: number;
}

export type WriterTask =
  | { readonly do: "commit"; readonly batches: PackedBatches; readonly mode: CommitMode }
  | { readonly do: "snapshot"; readonly proc: string; readonly seq: number; readonly state: string }
  | { readonly do: "damaged"; readonly proc: string; readonly seq: number }
  | { readonly do: "close" };

/** `id`: of the task that it answers, from 1. Answers come in the order of the tasks. */
export type WriterRequest = WriterTask & { readonly id: number };

export type WriterReply =
  | { readonly is: "done"; readonly id: number; readonly verdicts?: PackedVerdicts }
  | { readonly is: "failed"; readonly id: number; readonly fault: ToldFault }
  | { readonly is: "notice"; readonly notice: JournalNotice }
  | { readonly is: "lost"; readonly fault: ToldFault };

export interface ToldFault {
  readonly reason: DiskReason;
  readonly what: string;
  readonly room: Room | undefined;
}

export function toldFault({ reason, what, room }: JournalFault): ToldFault {
  return { reason, what, room };
}
