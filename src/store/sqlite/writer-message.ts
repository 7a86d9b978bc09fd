/** The messages between the main thread and the writer thread. Plain data, because messages are cloned. */

import type { DiskReason, JournalFault, Room } from "../fault.ts";
import type { CommitMode } from "../journal/ledger.ts";
import type { JournalNotice } from "../journal/notice.ts";
import type { PackedBatches, PackedVerdicts } from "../journal/packed.ts";
import type { Identity } from "./writer.ts";

/** The data that the writer thread starts with. */
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

/** `id`: counts the tasks from 1; a reply carries the id of its task. Replies come in the order of the tasks. */
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
