/**
 * Going back: what a process has done step by step, a new process that begins at one of those steps, and its files as they
 * were then. What the wires see of it; `history/fork` implements it.
 */
import type { Pid, ProcUuid } from "../../abi/ids.ts";
import type { RequestMark } from "../../abi/request-mark.ts";

/** One reply of the model with the results of its calls. */
export interface StepView {
  /** The number of the step from 1; 0: before the first, when only the first message was there. */
  readonly step: number;
  /** The history that contains it and the record that ends it: the first steps of a fork lie in the history of its origin. */
  readonly proc: ProcUuid;
  readonly seq: number;
  /** Wall clock, ms: for people. */
  readonly at: number;
  /** First words of the reply; where it said nothing, the tools that it called. */
  readonly words: string;
  /** Paths that its calls changed, in order of the first change. */
  readonly files: readonly string[];
  /** Commands that it ran: what those changed is not known. */
  readonly commands: number;
}

/** A step by its number, or by a record of the process's own history; absent: the last complete step. */
export type ForkPoint = { readonly step: number } | { readonly seq: number };

export interface ForkRequest {
  readonly at?: ForkPoint;
  /** A message for the new process, before its next step. */
  readonly message?: string;
  /** Whose the message is. */
  readonly client?: string;
  /** Whether it resumes at once; otherwise it rests until somebody opens it. */
  readonly wake?: boolean;
  /** The environment of the client, for a fork that resumes. */
  readonly env?: Readonly<Record<string, string>>;
  /** The mark of the client's request, kept in the record of the fork's spawn. */
  readonly request?: RequestMark;
}

export interface Forked {
  readonly pid: Pid;
  readonly uuid: ProcUuid;
  /** null: forked at a record that ends no step. */
  readonly step: number | null;
  readonly from: ProcUuid;
  readonly at: number;
}

export type FileDeed =
  | "restored"
  /** The file was missing. */
  | "recreated"
  /** The agent had made it. */
  | "removed"
  | "unchanged"
  /** Left as it is; `reason` says why. */
  | "kept";

export interface FileRewound {
  readonly path: string;
  readonly deed: FileDeed;
  readonly reason: string;
  /** Lines; 0 for binary content. */
  readonly insertions: number;
  readonly deletions: number;
}

export interface RewindRequest {
  /** Absent: before the last message that the process was given. */
  readonly at?: ForkPoint;
  /** The agent's files are put back, too. */
  readonly files: boolean;
  /** Reports what would change, and changes nothing. */
  readonly dryRun: boolean;
  /** Files that somebody else has changed since, too. */
  readonly force: boolean;
  /** false: nothing but the files. */
  readonly fork?: boolean;
}

export interface Rewound {
  readonly step: number | null;
  readonly seq: number;
  readonly files: readonly FileRewound[];
  /** Paths that somebody else has changed since: without `force` nothing is touched then, and nothing forked. */
  readonly conflicts: readonly string[];
  /** Commands that ran since, newest last, at most 20: what they changed is not put back. And how many there were. */
  readonly commands: readonly string[];
  readonly commandCount: number;
  /** The new process. null: not requested, a dry run, or refused. */
  readonly fork: Forked | null;
}

export interface Forks {
  /** Oldest first: the newest `last` of them, with step 0 if all fit. NOT_FOUND: no such process, or its history is gone. */
  steps(pid: Pid, last: number): Promise<readonly StepView[]>;
  /**
   * A new process on the same history up to a step, whose records are shared: rights of the process as it is now and no more,
   * an account of its own below the same limits; nothing open, no children, mail, groups or "always" answers. INVALID: inside
   * a call, or no agent; NOT_FOUND: no such process or step; CONFLICT: its history is damaged, or too little of it was kept.
   */
  fork(pid: Pid, request: ForkRequest): Promise<Forked>;
  /** The fork that an earlier request made; it resumes if that was requested. NOT_FOUND: its history was removed. */
  again(fork: Pid, request: Pick<ForkRequest, "wake" | "env">): Promise<Forked>;
  /** Like `fork`, and restores files. CONFLICT: the process runs. NOT_FOUND: the file history does not reach that far. */
  rewind(pid: Pid, request: RewindRequest): Promise<Rewound>;
}
