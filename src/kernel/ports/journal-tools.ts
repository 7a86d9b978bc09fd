/**
 * Operations on the journal as a whole: check, measure, collect. They work beside a daemon that writes (read-only but
 * for `collect`) and on a journal that nobody has open. All work is done in small portions, so that the event loop is
 * not blocked.
 */
import type { Pid, ProcUuid } from "../../abi/ids.ts";

export type FindingCode =
  | "torn_tail"
  | "missing_acknowledged"
  | "bad_hash"
  | "gap"
  | "bad_body"
  | "bad_snapshot"
  | "missing_blob"
  | "bad_blob"
  | "orphan_blob"
  | "stale_part"
  | "bad_row"
  | "bad_anchor"
  | "open_intent"
  | "schema"
  | "database";

export interface Finding {
  readonly code: FindingCode;
  readonly severity: "notice" | "damage";
  readonly pid?: Pid;
  readonly proc?: ProcUuid;
  readonly seq?: number;
  readonly lsn?: number;
  /** One line for screens. */
  readonly detail: string;
  /** What a repair would do; absent: nothing. */
  readonly repair?: string;
}

export interface CheckReport {
  readonly findings: readonly Finding[];
  readonly processes: number;
  readonly records: number;
  readonly blobs: number;
  readonly elapsedMs: number;
}

/** A root over the last record of every process, as `journal.anchor` keeps it. Hashes in hex. */
export interface Anchor {
  readonly lsn: number;
  readonly root: string;
  readonly previous: string;
  readonly at: number;
}

export interface VerifyReport {
  readonly records: number;
  readonly processes: number;
  readonly anchors: number;
  readonly lastAnchor: Anchor | null;
  /** Anchors over a history that retention has removed since: their roots cannot be recomputed. */
  readonly uncheckedAnchors: number;
  /** null: the chain is intact. Otherwise the first record that does not fit, by lsn. */
  readonly broken: Finding | null;
  readonly elapsedMs: number;
}

export interface Usage {
  /** Bytes in use, the write-ahead log included. */
  readonly databaseBytes: number;
  /** Freed inside the database file: reused before the file grows. */
  readonly reusableBytes: number;
  readonly blobBytes: number;
  readonly blobs: number;
  readonly records: number;
  readonly processes: number;
  /** `journal.maxBytes`. */
  readonly maxBytes: number;
  /** Free on the file system. */
  readonly freeBytes: number;
}

export interface CollectReport {
  /** Histories that were removed, or with `dryRun` would be. */
  readonly processes: readonly {
    readonly pid: Pid;
    readonly proc: ProcUuid;
    readonly reason: "age" | "space";
  }[];
  readonly records: number;
  readonly blobs: number;
  readonly bytes: number;
  readonly usage: Usage;
}

export interface Retention {
  /** Ended processes idle for longer are removed; 0: never by age. */
  readonly cleanupPeriodDays: number;
  readonly maxBytes: number;
}

export interface JournalTools {
  /**
   * `full`: every hash, body, snapshot and blob; otherwise head, rows against tails, open calls, the last 1,000 records
   * of each history.
   */
  check(options: {
    full: boolean;
    /** Pids or UUIDs: checks only their histories. */
    only?: readonly string[];
    signal?: AbortSignal;
    progress?: (records: number) => void;
  }): Promise<CheckReport>;
  /** Checks every hash of every history in lsn order, and each anchor; `against`: roots stored elsewhere. */
  verify(options: {
    against?: readonly Anchor[];
    signal?: AbortSignal;
    progress?: (records: number) => void;
  }): Promise<VerifyReport>;
  usage(): Promise<Usage>;
  /**
   * Retention, and removal of blobs that no record names and that are older than a day. A fork's prefix stays as long
   * as the fork.
   */
  collect(options: {
    retention: Retention;
    now: number;
    dryRun: boolean;
    signal?: AbortSignal;
  }): Promise<CollectReport>;
}

/** A page of a history as it is stored: each record as one line of JSON (abi/journal/line.ts). */
export interface LinePage {
  readonly lines: readonly string[];
  /** The position of the next page. */
  readonly nextSeq: number;
}

/** The journal as wires see it; boot fills it in. The settings decide what retention may remove. */
export interface JournalDesk extends Pick<JournalTools, "check" | "verify" | "usage"> {
  collect(options: { dryRun: boolean; signal?: AbortSignal }): Promise<CollectReport>;
  /** Records by rising lsn, in pages. */
  anchors(): AsyncIterable<readonly Anchor[]>;
  /** A process by pid or UUID. NOT_FOUND: no such process, or its history was removed. */
  find(process: string): Promise<ProcUuid>;
  /** The seq of the `count`-th record from the end, of that kind if one is given; 1 if there are fewer. */
  seqFromEnd(proc: ProcUuid, count: number, kind?: string): Promise<number>;
  /** Includes noted records. At most 256 records and about 4 MiB, but at least one; empty at the end. */
  lines(proc: ProcUuid, fromSeq: number, kind?: string): Promise<LinePage>;
  /** Its newest exit is recorded: nothing follows unless the user resumes it. */
  hasEnded(proc: ProcUuid): Promise<boolean>;
}
