/**
 * The storage under a journal: it writes groups whole and answers reads. The group journal above it decides when to
 * commit. Three variants: in memory, SQLite in this thread, SQLite in a thread of its own.
 */
import type { RecordKind, RowFilter, SparseKind } from "../../kernel/ports/journal.ts";
import type { JournalFault } from "../fault.ts";
import type { Blob } from "./body.ts";
import type { StoredRecord } from "./chain.ts";
import type { Fact } from "./fact.ts";
import type { Row } from "./row.ts";

/** A draft on its way to the disk: its body is encoded, its time is the time of the call. */
export interface Entry {
  readonly proc: string;
  readonly pid: number;
  readonly kind: RecordKind;
  readonly v: number;
  readonly call: string | null;
  /** Wall clock and monotonic clock, ms. */
  readonly at: number;
  readonly mono: number;
  readonly body: string;
  readonly fact: Fact | null;
  /** Digests of the blobs that the record names. */
  readonly names: readonly string[];
  /** Blobs that must be durable before the record. */
  readonly blobs: readonly Blob[];
}

/** The entries of one call: committed all together or not at all. */
export interface Batch {
  readonly entries: readonly Entry[];
  /** The expected last seq of the first entry's process; if it differs, the batch is refused. */
  readonly expect?: number;
}

export interface RecordPosition {
  readonly lsn: number;
  readonly seq: number;
}

/** The reason why a batch was refused for its contents. The other batches of its group were committed. */
export interface Refusal {
  readonly code: "CONFLICT" | "NOT_FOUND";
  readonly message: string;
}

export type BatchVerdict = readonly RecordPosition[] | Refusal;

/**
 * `reserve`: records of effects already begun may use the reserved space. `retry`: checks whether the disk accepts
 * records again, with enough room to continue.
 */
export type CommitMode = "normal" | "reserve" | "retry";

export interface ChainedRecord extends StoredRecord {
  readonly hash: Uint8Array;
}

export interface PickedRecord extends ChainedRecord {
  /** The hash of the previous record; undefined: it is missing, or this record is the first. */
  readonly before: Uint8Array | undefined;
}

export interface Picked {
  readonly records: readonly PickedRecord[];
  /** True if records were left out because of `maxChars`. */
  readonly isCut: boolean;
}

/** The bound of one page: a number of records, and a total length of their bodies; a page has at least one record. */
export interface PageBound {
  readonly records: number;
  readonly chars: number;
}

/** The lists that the derived tables provide about live processes, and about what those have started. */
export type RecordList = "openCalls" | "unfinished" | "liveStates" | "liveMail" | "liveGroups" | "endedMail";

/** Answers reads from the committed records. Its methods throw JournalFault. */
export interface LedgerReader {
  /** The records from `fromSeq` on, in order; gaps are not checked. */
  page(proc: string, fromSeq: number, most: PageBound): readonly ChainedRecord[];
  /** The existing records among `seqs`; stops after `maxChars` of bodies, but returns at least one. */
  pick(proc: string, seqs: readonly number[], maxChars: number): Picked;
  /** The hash that the record `seq` follows; undefined: the previous record is missing. */
  hashBefore(proc: string, seq: number): Uint8Array | undefined;
  /** Ordered by process or by lsn, as the method of that name in Journal says. */
  list(name: RecordList): readonly StoredRecord[];
  ofKind(proc: string, kind: SparseKind): readonly StoredRecord[];
  /** The newest record of this kind, or an empty list. */
  newest(proc: string, kind: RecordKind): readonly StoredRecord[];
  /** The newest record made by the request with this id, or an empty list. */
  requested(id: string): readonly StoredRecord[];
  rows(filter: RowFilter): readonly Row[];
  row(proc: string): Row | undefined;
  /** The seq of the newest record, according to the process's row; undefined: the process has no row. */
  lastSeq(proc: string): number | undefined;
  processOf(pid: number): string | undefined;
  /** Snapshots at or before `atMost`, newest first; incomplete ones are left out. */
  snapshots(proc: string, atMost: number): readonly { seq: number; state: string }[];
}

export interface Ledger {
  readonly epoch: number;
  readonly kernelId: string;
  /** The path that a degraded state reports. */
  readonly path: string;
  /** The highest numbers ever used, as of opening. */
  readonly highest: { readonly pid: number; readonly message: number };
  readonly reader: LedgerReader;
  /** The lsn in the head, as of opening; infinity: unknown, so all existing records count as acknowledged. */
  readonly acknowledgedLsn: number;
  /**
   * Writes all batches in order, as one unit, and syncs. Rejects with JournalFault: no batch was committed, or the
   * fault is `isLost`.
   */
  commit(batches: readonly Batch[], mode: CommitMode): Promise<readonly BatchVerdict[]>;
  saveSnapshot(proc: string, seq: number, state: string): Promise<void>;
  markDamaged(proc: string, seq: number): Promise<void>;
  putBlob(blob: Blob): Promise<void>;
  /** Errors: NOT_FOUND; INTERNAL: the bytes do not match the digest. */
  getBlob(digest: string): Promise<Uint8Array>;
  /** The listener is called when no record will be acknowledged any more, even if no commit is pending. */
  onLost(listener: (fault: JournalFault) => void): void;
  close(): Promise<void>;
}

export const SNAPSHOTS_KEPT = 2;
/** Most rows of one answer. Live processes are exempt: the process table bounds their number. */
const MAX_ROWS = 1000;

export function boundedRows(limit = MAX_ROWS): number {
  return Math.max(0, Math.min(MAX_ROWS, Math.trunc(limit)));
}
