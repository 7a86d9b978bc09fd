/** Replays a process from its records: everything happens in memory only, and no model is called. */
import type { Pid } from "../../abi/ids.ts";
import type { JournalRecord } from "./journal.ts";

/** The first place where the program does something other than what is recorded. */
export interface Difference {
  /** The sequence number of the record in the history of the process. */
  readonly seq: number;
  /** A kind of record, `call`, `input`, `signal` or `exit`. */
  readonly what: string;
  /** An excerpt that begins shortly before the difference. */
  readonly expected: string;
  readonly got: string;
}

export interface ReplayReport {
  readonly pid: Pid;
  /** Recorded model replies that were used. */
  readonly steps: number;
  /** Records of the program's own actions that were compared. */
  readonly records: number;
  /** The number of runs of the program: one for each daemon that had the process. */
  readonly runs: number;
  /** Versions of Crux that recorded them, and the one that replays. */
  readonly recorded: readonly string[];
  readonly version: string;
  /** `incomplete`: some of what is needed is not recorded, and the rest was not checked. */
  readonly outcome: "same" | "differs" | "incomplete";
  readonly difference?: Difference;
  /** The reason for `incomplete`. */
  readonly reason?: string;
}

export interface ReplayWish {
  /** Stops after this many model replies. */
  readonly to?: number;
  readonly signal?: AbortSignal;
}

export interface Replays {
  /** Replays a live process as far as it is recorded. NOT_FOUND: no such process, or its history was removed. */
  replay(pid: Pid, wish?: ReplayWish): Promise<ReplayReport>;
  /** The memory of a process, oldest first, and its records so far. NOT_FOUND. */
  records(pid: Pid): Promise<AsyncIterable<JournalRecord>>;
  /**
   * Replays exported records: those of one process, after those of the processes it was forked from. They are read
   * twice. INVALID: there are no records.
   */
  replayRecords(open: () => AsyncIterable<JournalRecord>, wish?: ReplayWish): Promise<ReplayReport>;
}
