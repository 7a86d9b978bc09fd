/**
 * The journal port: the durable log of everything a process did. `store/` implements it; the kernel never accesses a
 * disk. What `append` acknowledged survives kill -9 and power loss; what survives is always a prefix by lsn.
 */
import type { CallId, Pid, ProcUuid } from "../../abi/ids.ts";
import type { ProcessKind } from "../../abi/process.ts";

export type RecordKind =
  | "process.spawned"
  | "process.failed"
  | "process.exited"
  | "process.reaped"
  /** What a later daemon needs to restore it: of an agent `KeptState` (kernel/process/kept-state.ts), of pid 0 its mounts. */
  | "process.state"
  | "process.log"
  /** The position of its program: `{state}`, or `{part}` that is added to the last one. */
  | "process.checkpoint"
  /** A value that a device keeps for the process: `{name, value}`; null: removed. */
  | "process.kept"
  /** A later daemon restored it. Body: `{epoch}`; `resumed`: it had ended, and the user resumed it. */
  | "process.recovered"
  /**
   * The first record of a fork: `{from: ProcUuid, at: seq}`. Its history begins with records 1 … at of that process.
   */
  | "process.forked"
  /** Set by the user: `{title?, kept?}`. */
  | "process.described"
  /** A run of a session failed or reached a limit: `RunFailure` (kernel/ports/sessions.ts). */
  | "process.failed_run"
  /** A line that the user pinned to it: `{text, by?}`; "": removed. */
  | "process.note"
  /** It works in a worktree from here on: `{worktree}` (abi/worktree.ts); it works where it was started again. */
  | "worktree.enter"
  | "worktree.exit"
  /** Memory was turned off or on for it: `{off}`. */
  | "process.memory"
  /** Nobody waits for this child any more. */
  | "child.detached"
  /** Its share of models, set by the user: `{weight, by}`. */
  | "process.weight"
  /** The model that the user has chosen for it: `{device, model, thinking?, effort?, fallbacks, by}`. */
  | "process.model"
  /** New labels of what it has read: `{labels}` (abi/labels.ts). */
  | "label.add"
  /** The user removed labels: `{which, by}`. */
  | "label.clear"
  /**
   * In the kernel's history: a file that a process with labels wrote, `{path, sha256, labels}`; without labels:
   * cleared.
   */
  | "label.file"
  | "call.intent"
  | "call.result"
  | "call.unknown"
  /** The result of a call without an intent, or one input of the program: only replay reads it. */
  | "call.read"
  /** The content of a file before an agent changed it. */
  | "snapshot"
  /** A file that it has seen: `{path, …SeenFile}` (abi/device.ts). */
  | "file.seen"
  /** A message of a context, or its system prompt. `cid`: absent for the main context. */
  | "ctx.record"
  /** The view of a context has moved (kernel/context/view.ts). */
  | "ctx.move"
  /** A message that every view keeps from now on, or no longer (kernel/context/view.ts). */
  | "ctx.pin"
  /** What the loop measured of its requests, as far as it has changed: `Partial<ContextGauge>` (abi/context.ts). */
  | "ctx.gauge"
  /** What a sandbox refused, or probably refused, one of its programs: `{text}`, at most 2,000 characters. */
  | "sandbox.violation"
  /** A question of an agent to the user, `{id, items}`, and its outcome. */
  | "person.question"
  | "person.answer"
  | "permit.ask"
  | "permit.answer"
  /** The count of denied calls, in the history of the session's own process: `DenialState`. */
  | "permit.denials"
  /** The decision of the auto mode classifier on a call (consent/classify). */
  | "permit.classified"
  /** Consecutive failures of the classifier, in the history of the session's own process: `CircuitState`. */
  | "permit.circuit"
  /** A grant of the user, in the history of its session's own process, or of the kernel (consent/grants/grant-record.ts). */
  | "grant.add"
  /** A grant was revoked by the user; one of its uses was spent. */
  | "grant.remove"
  | "grant.use"
  /** Another permission mode: `{mode, by}`. */
  | "mode.set"
  | "acct.settle"
  /** New limits of an account, set by the user: `{budget, by}`. */
  | "acct.limit"
  | "signal"
  | "mail.put"
  | "mail.done"
  | "group.join"
  | "group.leave"
  | "supervisor.crash"
  | "supervisor.escalated"
  | "kernel.boot"
  | "kernel.shutdown"
  /** The clock jumped, or the daemon was frozen: `{gapMs, jumpMs}`. */
  | "kernel.clock"
  /** An event of the binary wire, in the kernel's history: `Omit<KernelEvent, "seq">`. */
  | "event"
  | "journal.degraded"
  /**
   * An anchor in the kernel's history, `{root, previous, processes, lsn}`: `audit verify` compares with it (store/journal/chain.ts).
   */
  | "journal.anchor"
  /** fsck removed damaged records. */
  | "journal.repair"
  /** Retention removed the history of a process: `{proc, pid, seq, hash}`. */
  | "journal.tombstone";

export interface JournalDraft {
  /** The kernel's own records have the zero UUID and pid 0. */
  readonly proc: ProcUuid;
  readonly pid: Pid;
  readonly kind: RecordKind;
  /** Version of the body. */
  readonly v: number;
  readonly call?: CallId;
  /**
   * Plain data. Strings over 64 KiB in it are stored separately, by digest, and are returned whole; the rest has at
   * most 1 MiB encoded, else INVALID. At most 64 MiB in all.
   */
  readonly body: unknown;
}

/** The process whose history has the record. */
export type RecordOwner = Pick<JournalDraft, "proc" | "pid">;

export interface JournalRecord extends JournalDraft {
  /** Order across the whole kernel; rising, the only order that counts. */
  readonly lsn: number;
  /** Position in the process's history: from 1, without gaps. */
  readonly seq: number;
  /** Fencing token of the daemon that wrote it. */
  readonly epoch: number;
  /** Wall clock, ms: for display. */
  readonly at: number;
}

/** The row of a process, updated with its records: what is known without reading its history. */
export interface ProcessRow {
  readonly proc: ProcUuid;
  readonly pid: Pid;
  readonly ppid: Pid;
  readonly kind: ProcessKind;
  /** Agent, program or supervisor; "" in general mode. */
  readonly name: string;
  /** Cut at 200 characters. */
  readonly intent: string;
  readonly cwd: string;
  /** The user talks to it: it waits for the next message. */
  readonly isSession: boolean;
  /** Wall clock, ms; `lastAt`: the time of its last record. */
  readonly createdAt: number;
  readonly lastAt: number;
  /** The sequence number of its newest record. */
  readonly lastSeq: number;
  /** Whether its newest `signal` record paused it. */
  readonly isPaused: boolean;
  readonly ranMs: number;
  /** Tokens spent by its own calls; `limitUsed`: by it and its descendants, counted against its own limit. */
  readonly tokensUsed: number;
  readonly limitUsed: number;
  /** What its own calls cost, in millionths of a dollar; null: an older program has not summed it. */
  readonly microUsdUsed: number | null;
  /** Messages in its context that came from the user or another process. */
  readonly turns: number;
  /** null: it has not ended, as far as the journal knows. */
  readonly exit: { readonly code: number; readonly reason: string } | null;
  readonly forkedFrom: { readonly proc: ProcUuid; readonly at: number } | null;
  /** "" none. */
  readonly title: string;
  /** Retention never removes it. */
  readonly isKept: boolean;
  /** The first record that cannot be trusted; null: none known. It is readable up to there and is not run. */
  readonly damagedAt: number | null;
}

export interface RowFilter {
  /** Spawned and not exited. */
  readonly live?: boolean;
  readonly session?: boolean;
  readonly cwd?: string;
  /** Only pids below this one, the highest first, instead of by last record. */
  readonly before?: number;
  /** Only this process, by its pid, and all below it, whoever has adopted them since. */
  readonly tree?: number;
  /** Only the one with this lasting name: `agent-` and the first twelve hex digits of its uuid. */
  readonly agent?: string;
  /** The row with the newest last record first; at most 1,000, also the default; with `live` and no limit, all. */
  readonly limit?: number;
}

/**
 * `degraded`: the disk accepts nothing for now (full, read-only, too slow); appends are refused, noted records are kept
 * in memory, and writing is retried automatically. `lost`: nothing will be acknowledged any more, whatever the disk
 * does.
 */
export type JournalState =
  | { readonly state: "well" }
  | {
      readonly state: "degraded";
      readonly reason: string;
      readonly path: string;
      /** Free bytes on its file system; null: not known. */
      readonly freeBytes: number | null;
      readonly needBytes: number;
    }
  | { readonly state: "lost"; readonly reason: string; readonly message: string };

/** Kinds with few records per history: they are found without reading it. */
export const SPARSE_KINDS = [
  "process.spawned",
  /** What a later daemon needs to restore it: of an agent `KeptState` (kernel/process/kept-state.ts), of pid 0 its mounts. */
  "process.state",
  "process.forked",
  "grant.add",
  "grant.remove",
  "grant.use",
  "mode.set",
  "process.note",
  "process.memory",
  "label.file",
] as const satisfies readonly RecordKind[];

export type SparseKind = (typeof SPARSE_KINDS)[number];

export interface Journal {
  /** Raised by one at each open; this daemon's fencing token. */
  readonly epoch: number;
  /** The state directory's own name, a UUID that never changes. */
  readonly kernelId: string;
  /**
   * The highest record of earlier daemons known to have been acknowledged; clients may not have heard of later ones.
   * Absent: all were acknowledged.
   */
  readonly acknowledgedLsn?: number;
  /**
   * Resolves once all drafts are synced, in order, as one unit. UNAVAILABLE: the disk refuses (full, read-only);
   * nothing of the batch was stored. INVALID: a body is too large. `expect`: the last seq of the history of the first
   * draft; CONFLICT if it differs: nothing was stored.
   */
  append(
    drafts: readonly JournalDraft[],
    options?: { readonly expect?: number },
  ): Promise<readonly { lsn: number; seq: number }[]>;
  /**
   * Takes drafts that may wait for the next group; no later append overtakes them. Never throws, never waits.
   * Bounded: beyond 65,536 waiting records the group is committed at once.
   */
  note(drafts: readonly JournalDraft[]): void;
  /** Resolves when everything noted or appended before is synced. */
  sync(): Promise<void>;
  /**
   * A page of a process's own history from `fromSeq` on, at most 256 records and 8 MiB of bodies, but at least one
   * record. INTERNAL with the seq: a record is damaged (its hash, or a gap). It is thrown only if the damaged record is
   * the first of the page; the records before it come as a shorter page.
   */
  read(proc: ProcUuid, fromSeq: number, limit: number): Promise<readonly JournalRecord[]>;
  /**
   * Single records of a process's own history, by rising seq: the first of `seqs`, bounded like a page, but at least
   * one; missing records are left out. INTERNAL with the seq: the first of them is damaged; damage in a later one ends
   * the answer.
   */
  readAt(proc: ProcUuid, seqs: readonly number[]): Promise<readonly JournalRecord[]>;
  /** Intents of any process without a result. */
  openCalls(): Promise<readonly JournalRecord[]>;
  /** Processes spawned and not exited, by rising pid: their `process.spawned` records. */
  unfinished(): Promise<readonly JournalRecord[]>;
  /**
   * The newest `process.state` of each of these processes; `liveMail`, `liveGroups`: the `mail.put` and `group.join`
   * records of all of them that are not undone.
   */
  liveStates(): Promise<readonly JournalRecord[]>;
  liveMail(): Promise<readonly JournalRecord[]>;
  liveGroups(): Promise<readonly JournalRecord[]>;
  /** The `mail.put` records that are not undone of processes that completed and whose parent has not ended. */
  endedMail(): Promise<readonly JournalRecord[]>;
  /** All records of one kind in the history of one process, in order. Only for kinds with few records. */
  ofKind(proc: ProcUuid, kind: SparseKind): Promise<readonly JournalRecord[]>;
  /** The last record of one kind in the history of one process, searched from its end; undefined: none. */
  newest(
    proc: ProcUuid,
    kind: "acct.settle" | "process.exited" | "worktree.enter" | "worktree.exit",
  ): Promise<JournalRecord | undefined>;
  /** The newest record made by the client request with this id (abi/request-mark.ts); undefined: none. */
  requested(id: string): Promise<JournalRecord | undefined>;
  rows(filter: RowFilter): Promise<readonly ProcessRow[]>;
  row(proc: ProcUuid): Promise<ProcessRow | undefined>;
  /** The process that had this pid; undefined: none, or its history was removed. */
  processOf(pid: Pid): Promise<ProcUuid | undefined>;
  /** The highest pid ever used by any daemon on this journal; 0 for none. */
  highestPid(): number;
  /** The highest `seq` of a message (`mail.put`) ever stored on this journal; 0 for none. */
  highestMessage(): number;
  /**
   * A folded state of a process as of its record `seq`: only a cache. The last two are kept; one over 8 MiB is
   * dropped. Never rejects: a failure to write is ignored.
   */
  saveSnapshot(proc: ProcUuid, seq: number, state: unknown): Promise<void>;
  /** The newest snapshot at or before `atMost`; undefined: no intact one. */
  snapshot(proc: ProcUuid, atMost?: number): Promise<{ seq: number; state: unknown } | undefined>;
  /**
   * Synced when it resolves: append the record that names it afterwards. At most 64 MiB, else INVALID. The SHA-256 in
   * hex.
   */
  putBlob(bytes: Uint8Array): Promise<string>;
  /** NOT_FOUND: no such blob, or it was evicted. INTERNAL: its content does not match its digest; it is set aside. */
  getBlob(digest: string): Promise<Uint8Array>;
  readonly state: JournalState;
  /** Calls `listener` at each change of `state`, from now on. The result stops that. */
  onState(listener: (state: JournalState) => void): () => void;
  /** Syncs and closes; later calls are UNAVAILABLE. */
  close(): Promise<void>;
}

/** The uuid of the kernel's own records. */
export const KERNEL_UUID = "00000000-0000-0000-0000-000000000000" as ProcUuid;
