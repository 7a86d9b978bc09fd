/**
 * The journal port: the durable log of everything a process did. `store/` implements it; the kernel never sees a disk.
 * What `append` acknowledged survives kill -9 and power loss; what survives is a prefix by lsn.
 */
import type { CallId, Pid, ProcUuid } from "../../abi/ids.ts";

export type RecordKind =
  | "process.spawned"
  | "process.failed"
  | "process.exited"
  | "process.reaped"
  | "process.state"
  | "process.log"
  | "process.checkpoint"
  | "process.recovered"
  | "call.intent"
  | "call.result"
  | "call.unknown"
  | "ctx.record"
  | "permit.ask"
  | "permit.answer"
  | "grant.add"
  | "acct.settle"
  | "signal"
  | "mail.put"
  | "mail.done"
  | "group.join"
  | "group.leave"
  | "supervisor.crash"
  | "supervisor.escalated"
  | "kernel.boot"
  | "kernel.shutdown";

export interface JournalDraft {
  /** The kernel's own records have the zero UUID and pid 0. */
  readonly proc: ProcUuid;
  readonly pid: Pid;
  readonly kind: RecordKind;
  /** Version of the body. */
  readonly v: number;
  readonly call?: CallId;
  /** Plain data, at most 1 MiB encoded: INVALID beyond. */
  readonly body: unknown;
}

/** In whose history a record lies. */
export type RecordOwner = Pick<JournalDraft, "proc" | "pid">;

export interface JournalRecord extends JournalDraft {
  /** Order of the whole kernel; rises, the only order that counts. */
  readonly lsn: number;
  /** Place in the process's history: from 1, no gaps. */
  readonly seq: number;
  /** Fencing token of the daemon that wrote it. */
  readonly epoch: number;
  /** Wall clock, ms: for people. */
  readonly at: number;
}

export interface Journal {
  /** Raised by one at each open; this daemon's fencing token. */
  readonly epoch: number;
  /** The state directory's own name, a UUID that never changes. */
  readonly kernelId: string;
  /**
   * Resolves once all drafts are synced, in order, as one unit. UNAVAILABLE: the disk refuses (full, read-only);
   * nothing of the batch was taken. INVALID: a body too large.
   */
  append(drafts: readonly JournalDraft[]): Promise<readonly { lsn: number; seq: number }[]>;
  /**
   * Takes drafts that may wait for the next group; no later append overtakes them. Never throws, never waits.
   * Bounded: beyond 65,536 waiting records the group is committed at once.
   */
  note(drafts: readonly JournalDraft[]): void;
  /** Resolves when all that was noted or appended before is synced. */
  sync(): Promise<void>;
  /** A page of a process's history from `seq` on, at most 256. */
  read(proc: ProcUuid, fromSeq: number, limit: number): Promise<readonly JournalRecord[]>;
  /** Intents of any process without a result. */
  openCalls(): Promise<readonly JournalRecord[]>;
  /** Processes spawned and not exited, by rising pid: their `process.spawned` records. */
  unfinished(): Promise<readonly JournalRecord[]>;
  /** The newest `signal` of each of them that has one: costs what is open, not what ever was. */
  lastSignals(): Promise<readonly JournalRecord[]>;
  /** The process that had this pid; undefined: none, or its history is gone. */
  processOf(pid: Pid): Promise<ProcUuid | undefined>;
  /** The highest pid ever used by any daemon on this journal; 0 for none. */
  highestPid(): number;
  /** The highest `seq` of a message (`mail.put`) ever stored on this journal; 0 for none. */
  highestMessage(): number;
  health(): { ok: true } | { ok: false; reason: string };
  /** Syncs and closes; later calls are UNAVAILABLE. */
  close(): Promise<void>;
}

/** The uuid of the kernel's own records. */
export const KERNEL_UUID = "00000000-0000-0000-0000-000000000000" as ProcUuid;
