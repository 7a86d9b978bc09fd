/** User space as the kernel starts it: a program gets this handle and ends with a status. */
import type { AgentInfo } from "./agent.ts";
import type { CtxId, Fd, Pid } from "./ids.ts";
import type { Activity, ExitStatus } from "./process.ts";
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
}

export interface ProgramContext {
  readonly sys: Sys;
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
  /** Fires at TERM, INT, KILL, timeout. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Holds while the process is paused; rejects when it ends. */
  waitIfPaused(): Promise<void>;
  account(): AccountView;
  onStep(step: number): void;
  setActivity(activity: Activity): void;
  /** What the process has to say so far; the last value is its result. */
  setResult(text: string): void;
  log(level: "info" | "warn" | "error", message: string): void;
}

/** Never rejects for an expected end; a rejection is a bug and becomes `unexpected exit`. */
export type Program = (context: ProgramContext) => Promise<ExitStatus>;
