/** A started program and all its descendants, signalled and ended as one. */
import type { ExecChild, HostExec } from "../../kernel/ports/host.ts";
import type { Wrapper } from "./wrapper.ts";

export type ExecEnd = Awaited<ExecChild["exited"]>;
export type JobSignal = Parameters<ExecChild["signal"]>[0];

export interface Job {
  /** False: no process was there to receive it. */
  signal(name: JobSignal): boolean;
  /** Pids of processes that are still stopped although the whole job was continued. */
  stopped(): readonly number[];
  /** Sends KILL to all of them at once. `isOver`: the first process has reported that none but itself is left. */
  kill(isOver?: boolean): void;
  /** Pids of processes still alive after the leader has ended. */
  left(leader: ExecEnd): readonly number[];
  /** Whether one of them can still read the file that /proc shows by this link; true where that is not known. */
  holds(link: string): boolean;
  /** How the program ended, derived from the end of the leader. */
  endOf(leader: ExecEnd): ExecEnd;
}

/** The process to start. */
export interface OsChildSpec {
  /** The absolute path of the program. */
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The words put before the wrapper; the first is an absolute path. */
  readonly enter?: readonly string[];
  /** The words of the first process, in place of the shell that starts the program. */
  readonly first?: readonly string[];
  /** Options of the wrapper that confine the program; absent: it sees the host unchanged. */
  readonly confined?: readonly string[];
}

/** A way of keeping children from outliving the daemon. */
export interface Isolation {
  readonly ownership: HostExec["ownership"];
  /** What makes the namespaces; absent: there are none. */
  readonly wrapper?: Wrapper;
  /**
   * True if the started process asks at fd 3 whether the daemon is alive, and begins the program when it is answered.
   */
  readonly asksAtStart: boolean;
  /** The complete argv; its first word is an absolute path. */
  wrap(launch: OsChildSpec): readonly [string, ...string[]];
  /**
   * `leader`: the pid of the started process; `mark`: `NAME=value`, an entry of its environment that only this child
   * has.
   */
  job(leader: number, mark: string): Job;
}
