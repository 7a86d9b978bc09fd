/** User space as the kernel starts it: a program gets this handle and ends with a status. */
import type { AgentInfo } from "./agent.ts";
import type { CtxId, Fd, Pid } from "./ids.ts";
import type { ExitStatus } from "./process.ts";
import type { Sys } from "./sys.ts";

export interface Clock {
  /** Wall clock, milliseconds since the epoch: for people only. */
  now(): number;
  /** Monotonic milliseconds with a fraction: for every interval, timeout and trace. */
  mono(): number;
  /** Resolves after `ms`, or rejects with the signal's reason. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The tokens of a process: `limit` 0 is none. */
export interface AccountView {
  readonly limit: number;
  readonly used: number;
  readonly reserved: number;
  /** At the limit a person is asked: the next call finds out. Absent: nobody is. */
  readonly asks?: true;
}

/** What became of a call that its daemon did not see the end of, by the files that it was to change. */
export interface Probed {
  readonly outcome: "done" | "not_done";
  readonly tool: string;
  /** As it was sent; what is longer than a record keeps is cut. */
  readonly input: string;
}

/** What a program told an earlier daemon before that ended. */
export interface Restored {
  /** Of the last `checkpoint`; null: it told nothing. */
  readonly state: unknown;
  /**
   * What followed, in order: parts that were added to it, effects that began (a model call is none), and what a later daemon
   * found of one of those.
   */
  readonly since: readonly (
    | { readonly kind: "part"; readonly part: unknown }
    | { readonly kind: "effect" }
    | { readonly kind: "probed"; readonly probed: Probed }
  )[];
}

/** What a session was told: what began a run, or joined it. */
export interface RunInput {
  /** Of the message; 0: the intent. */
  readonly seq: number;
  /** 0: a client of the user. */
  readonly from: Pid;
  readonly client: string;
  readonly text: string;
}

/** What a program is handed over when it begins: all that stays as it is. */
export interface ProgramStart {
  readonly pid: Pid;
  readonly ctxId: CtxId;
  readonly intent: string;
  readonly agent: AgentInfo | null;
  readonly cwd: string;
  /** The open model device. */
  readonly modelFd: Fd;
  /** Its path: `/dev/llm/claude`. */
  readonly modelDevice: string;
  /** "" is the driver's default. */
  readonly model: string;
  /** 0: no limit. */
  readonly maxSteps: number;
  /** fd 0, to be read to its end before the first step; null: nothing was given. */
  readonly input: Fd | null;
  /** Servers mounted for this process, by the names of the agent file. */
  readonly mounts: readonly { readonly name: string; readonly path: string; readonly alwaysLoad?: boolean }[];
  /** 2: tools can be looked for. Absent: how it was before; of histories that are replayed. */
  readonly toolset?: 2;
  /** Its model is told of the mode. Absent: of histories that are replayed, and in threads, which share what the process is told. */
  readonly modes?: true;
  /** null: a fresh start. */
  readonly restored: Restored | null;
  /** A person talks to it; whose message the intent is. null: the process has one run, and ends with it. */
  readonly session: { readonly client: string } | null;
}

/** What a program begins with. */
export interface Begun {
  readonly sys: Sys;
  readonly start: ProgramStart;
}

/** Never rejects for an expected end; a rejection is a bug and becomes `unexpected exit`. */
export type Program = (sys: Sys, start: ProgramStart) => Promise<ExitStatus>;
