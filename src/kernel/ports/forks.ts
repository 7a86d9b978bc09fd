/**
 * Going back: the steps of a process, a new process that begins at one of those steps, and its files as they were at
 * that step. The part that the wires see; `history/fork` implements it.
 */
import type { Pid, ProcUuid } from "../../abi/ids.ts";
import type { RequestMark } from "../../abi/request-mark.ts";

/** One reply of the model with the results of its calls. */
export interface StepView {
  /** The number of the step from 1; 0: before the first, when only the first message was there. */
  readonly step: number;
  /**
   * The history that contains it and the record that ends it: the first steps of a fork lie in the history of its
   * origin.
   */
  readonly proc: ProcUuid;
  readonly seq: number;
  /** Wall clock, ms: for display. */
  readonly at: number;
  /** The first words of the reply; if it has no text, the tools it called. */
  readonly words: string;
  /** Messages in the user's role that were given since the step before, each cut at 1,000 characters. */
  readonly asked: readonly string[];
  /** Paths that its calls changed, in order of the first change. */
  readonly files: readonly string[];
  /** Commands that it ran: the files they changed are unknown. */
  readonly commands: number;
}

/** A step by its number, or by a record of the process's own history; absent: the last complete step. */
export type ForkPoint = { readonly step: number } | { readonly seq: number };

export interface ForkRequest {
  readonly at?: ForkPoint;
  /** A message for the new process, before its next step. */
  readonly message?: string;
  /** The client that sent the message. */
  readonly client?: string;
  /** Whether it resumes at once; otherwise it rests until it is opened. */
  readonly wake?: boolean;
  /** The environment of the client, for a fork that resumes. */
  readonly env?: Readonly<Record<string, string>>;
  /** Its uuid; absent: a new one. CONFLICT: another has or had it. */
  readonly uuid?: ProcUuid;
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
  /** Absent: before the last message to the process. */
  readonly at?: ForkPoint;
  /** Also restores the agent's files. */
  readonly files: boolean;
  /** Only reports what would change. */
  readonly dryRun: boolean;
  /** Also restores files that others have changed since. */
  readonly force: boolean;
  /** false: restores the files only. */
  readonly fork?: boolean;
}

export interface Rewound {
  readonly step: number | null;
  readonly seq: number;
  readonly files: readonly FileRewound[];
  /** Paths that others have changed since: without `force` nothing is restored then, and nothing forked. */
  readonly conflicts: readonly string[];
  /** Commands that ran since, newest last, at most 20: their changes are not undone. `commandCount`: how many ran. */
  readonly commands: readonly string[];
  readonly commandCount: number;
  /** The new process. null: not requested, a dry run, or refused. */
  readonly fork: Forked | null;
}

export interface Forks {
  /**
   * The newest `last` steps, oldest first, with step 0 if all fit. NOT_FOUND: no such process, or its history was
   * removed.
   */
  steps(pid: Pid, last: number): Promise<readonly StepView[]>;
  /**
   * A new process on the same history up to a step, sharing its records: with the current rights of the process and no
   * more, its own account under the same limits; no open files, children, mail, groups or "always" answers. INVALID:
   * inside a call, or not an agent; NOT_FOUND: no such process or step; CONFLICT: its history is damaged, or too little
   * was recorded.
   */
  fork(pid: Pid, request: ForkRequest): Promise<Forked>;
  /** The fork that an earlier request made; it resumes if that was requested. NOT_FOUND: its history was removed. */
  again(fork: Pid, request: Pick<ForkRequest, "wake" | "env">): Promise<Forked>;
  /**
   * Like `fork`, and restores files. CONFLICT: the process runs. NOT_FOUND: the file history does not reach that far.
   */
  rewind(pid: Pid, request: RewindRequest): Promise<Rewound>;
}
