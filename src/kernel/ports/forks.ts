/**
 * Going back: what a process has done step by step, a new process that begins at one of those steps, and its files as they
 * were then. What the wires see of it; `history/fork` implements it.
 */
import type { Pid, ProcUuid } from "../../abi/ids.ts";
import type { RequestMark } from "../../abi/request-mark.ts";

/** One reply of the model with the results of its calls. */
export interface StepView {
  /** From 1; 0: before the first of them, when the first message was there. */
  readonly step: number;
  /** In whose history it lies, and where it is over: of a fork, the first steps are those of the process it comes from. */
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

/** By number of a step, or by a record of the process's own history; absent: the last step that is complete. */
export type ForkPoint = { readonly step: number } | { readonly seq: number };

export interface ForkRequest {
  readonly at?: ForkPoint;
  /** For the new process, before its next step. */
  readonly message?: string;
  /** Whose the message is. */
  readonly client?: string;
  /** It goes on at once; else it rests until somebody opens it. */
  readonly wake?: boolean;
  /** Of the client, for one that goes on. */
  readonly env?: Readonly<Record<string, string>>;
  /** Of the client's request that this is: kept in the record of the fork's spawn. */
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
  /** It was gone. */
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
  /** Lines; 0 where it is no text. */
  readonly insertions: number;
  readonly deletions: number;
}

export interface RewindRequest {
  /** Absent: before the last message that the process was given. */
  readonly at?: ForkPoint;
  /** The agent's files are put back, too. */
  readonly files: boolean;
  /** Nothing is changed: what would be. */
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
  /** The process that goes on from there. null: none was wanted, a dry run, or refused. */
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
  /** What a request has forked before: it goes on if that was asked for. NOT_FOUND: its history is gone. */
  again(fork: Pid, request: Pick<ForkRequest, "wake" | "env">): Promise<Forked>;
  /** As `fork`, with the files. CONFLICT: the process runs. NOT_FOUND: file history does not go back as far. */
  rewind(pid: Pid, request: RewindRequest): Promise<Rewound>;
}
