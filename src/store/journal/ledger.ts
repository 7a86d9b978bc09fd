/**
 * What lies under a journal: it keeps groups whole and answers from what it keeps. The group above decides when. Three of
 * the same: in memory, on SQLite in this thread, on SQLite in a thread of its own.
 */
import type { RecordKind, RowFilter } from "../../kernel/ports/journal.ts";
import type { JournalFault } from "../fault.ts";
import type { Blob } from "./body.ts";
import type { StoredRecord } from "./chain.ts";
import type { Fact } from "./fact.ts";
import type { Row } from "./row.ts";

/** A draft on its way to the disk: its body is encoded, its time is that of the call. */
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
  /** Digests of blobs that the record names. */
  readonly names: readonly string[];
  /** To be durable before the record. */
  readonly blobs: readonly Blob[];
}

/** What one call handed over: taken whole or not at all. */
export interface Batch {
  readonly entries: readonly Entry[];
  /** The last seq of the history of the first entry; another: the batch is refused. */
  readonly expect?: number;
}

export interface RecordPosition {
  readonly lsn: number;
  readonly seq: number;
}

/** A batch that was not taken for what it says. The others of its group were. */
export interface Refusal {
  readonly code: "CONFLICT" | "NOT_FOUND";
  readonly message: string;
}

export type BatchVerdict = readonly RecordPosition[] | Refusal;

/**
 * `reserve`: what belongs to effects already begun may use the space set aside for it. `retry`: it is tried whether the disk
 * takes something again, with room to go on.
 */
export type CommitMode = "normal" | "reserve" | "retry";

export interface ChainedRecord extends StoredRecord {
  readonly hash: Uint8Array;
}

export interface PickedRecord extends ChainedRecord {
  /** The hash of the record before it; undefined: that is missing, or it is the first. */
  readonly before: Uint8Array | undefined;
}

export interface Picked {
  readonly records: readonly PickedRecord[];
  /** Bodies came to more than there was room for. */
  readonly isCut: boolean;
}

/** Answers from what is committed. Throws JournalFault. */
/** Of one page: so many records, and as many as have so many characters of bodies together, but not fewer than one. */
export interface PageBound {
  readonly records: number;
  readonly chars: number;
}

/** What the derived tables tell of all that is alive. */
export type RecordList = "openCalls" | "unfinished" | "liveStates" | "liveMail" | "liveGroups";

export interface LedgerReader {
  /** From `fromSeq` on, in order, gaps and all. */
  page(proc: string, fromSeq: number, most: PageBound): readonly ChainedRecord[];
  /** Those at `seqs` that are there; stops beyond `maxChars` of bodies, but not before one. */
  pick(proc: string, seqs: readonly number[], maxChars: number): Picked;
  /** The hash that the record `seq` follows; undefined: what lies before it is missing. */
  hashBefore(proc: string, seq: number): Uint8Array | undefined;
  /** By process or by lsn, as the journal's call of that name says. */
  list(name: RecordList): readonly StoredRecord[];
  ofKind(proc: string, kind: RecordKind): readonly StoredRecord[];
  /** The last of them, or none. */
  newest(proc: string, kind: RecordKind): readonly StoredRecord[];
  /** The newest that the request with this id has made, or none. */
  requested(id: string): readonly StoredRecord[];
  rows(filter: RowFilter): readonly Row[];
  row(proc: string): Row | undefined;
  /** Of its newest record, as its row says; undefined: it has no row. */
  lastSeq(proc: string): number | undefined;
  processOf(pid: number): string | undefined;
  /** The newest first, at or before `atMost`, whole ones only. */
  snapshots(proc: string, atMost: number): readonly { seq: number; state: string }[];
}

export interface Ledger {
  readonly epoch: number;
  readonly kernelId: string;
  /** What a degraded state names. */
  readonly path: string;
  /** Ever used, when it was opened. */
  readonly highest: { readonly pid: number; readonly message: number };
  readonly reader: LedgerReader;
  /** By the head, when it was opened; infinity: not known, so all that is there counts. */
  readonly acknowledgedLsn: number;
  /** All batches in order, as one unit, synced. Rejects with JournalFault: nothing was taken, or it is `isLost`. */
  commit(batches: readonly Batch[], mode: CommitMode): Promise<readonly BatchVerdict[]>;
  saveSnapshot(proc: string, seq: number, state: string): Promise<void>;
  markDamaged(proc: string, seq: number): Promise<void>;
  putBlob(blob: Blob): Promise<void>;
  /** Errors: NOT_FOUND; INTERNAL: it is not what its digest says. */
  getBlob(digest: string): Promise<Uint8Array>;
  /** Told when nothing will be acknowledged any more, though nobody asked. */
  onLost(listener: (fault: JournalFault) => void): void;
  close(): Promise<void>;
}

export const SNAPSHOTS_KEPT = 2;
/** Rows of one answer. Those that are live are bounded by the process table. */
const MAX_ROWS = 1000;

export function boundedRows(limit = MAX_ROWS): number {
  return Math.max(0, Math.min(MAX_ROWS, Math.trunc(limit)));
}
