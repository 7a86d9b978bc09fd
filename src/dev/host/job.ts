/** A started program and all it started, as one thing to signal and to end. */
import type { ExecChild, HostExec } from "../../kernel/ports/host.ts";

export type ExecEnd = Awaited<ExecChild["exited"]>;
export type JobSignal = Parameters<ExecChild["signal"]>[0];

export interface Job {
  /** False: nobody is there to hear it. */
  signal(name: JobSignal): boolean;
  /** Those of them that stand still although all were told to go on. */
  stopped(): readonly number[];
  /** KILL, to all of them at once. */
  kill(): void;
  /** Who lives although the leader has ended. */
  left(leader: ExecEnd): readonly number[];
  /** How the program ended, as its leader's end tells it. */
  endOf(leader: ExecEnd): ExecEnd;
}

/** What is to be started. */
export interface OsChildSpec {
  /** Absolute. */
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** What stands before bubblewrap; the first is absolute. */
  readonly enter?: readonly string[];
  /** Options of bubblewrap that confine it; absent: it sees the host as it is. */
  readonly confined?: readonly string[];
}

/** A way of keeping children from outliving the daemon. */
export interface Isolation {
  readonly ownership: HostExec["ownership"];
  /** What it starts asks at fd 3 whether the daemon lives, and begins the program when it hears an answer. */
  readonly asksAtStart: boolean;
  /** The whole argv, with an absolute program. */
  wrap(launch: OsChildSpec): readonly [string, ...string[]];
  /** `leader`: the process that was started; `mark`: `NAME=value` of its environment that only this child has. */
  job(leader: number, mark: string): Job;
}
