/** Running a process again from its records: nothing happens but in memory, and no model is asked. */
import type { Pid } from "../../abi/ids.ts";
import type { JournalRecord } from "./journal.ts";

/** The first place where the program does something else than is recorded there. */
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
  /** Replies of the model that were used again. */
  readonly steps: number;
  /** Records of the program's own that were compared. */
  readonly records: number;
  /** The number of runs of the program: one for each daemon that had the process. */
  readonly runs: number;
  /** Versions of Crux that recorded them, and the one that replays. */
  readonly recorded: readonly string[];
  readonly version: string;
  /** `incomplete`: not all that is needed is recorded, and nothing is said of the rest. */
  readonly outcome: "same" | "differs" | "incomplete";
  readonly difference?: Difference;
  /** The reason for `incomplete`. */
  readonly reason?: string;
}

export interface ReplayWish {
  /** Stops where the process had so many replies. */
  readonly to?: number;
  readonly signal?: AbortSignal;
}

export interface Replays {
  /** Replays a live process as far as it is recorded. NOT_FOUND: no such process, or its history was removed. */
  replay(pid: Pid, wish?: ReplayWish): Promise<ReplayReport>;
  /** The memory of a process, oldest first, and what it did so far. NOT_FOUND. */
  records(pid: Pid): Promise<AsyncIterable<JournalRecord>>;
  /**
   * Records from elsewhere: those of one process, after those of the processes that it comes from. They are read twice. INVALID:
   * there are none.
   */
  replayRecords(open: () => AsyncIterable<JournalRecord>, wish?: ReplayWish): Promise<ReplayReport>;
}
