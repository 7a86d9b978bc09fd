/** Supervisors: which processes are kept running, how, and when they are restarted (kernel reference, supervisors). */
import type { Pid } from "./ids.ts";
import type { NativeOptions } from "./native.ts";
import type { ExitStatus } from "./process.ts";
import type { SpawnOpts } from "./sys.ts";

export type Strategy = "one_for_one" | "one_for_all" | "rest_for_one";
export type Restart = "permanent" | "transient" | "temporary";

export interface Intensity {
  readonly maxRestarts: number;
  readonly windowMs: number;
}

export interface Backoff {
  readonly initialMs: number;
  readonly factor: number;
  readonly maxMs: number;
  /** 0 … 1: the share by which a delay is randomly shortened or lengthened. */
  readonly jitter: number;
}

export const DEFAULT_STRATEGY: Strategy = "one_for_one";
export const DEFAULT_INTENSITY: Intensity = { maxRestarts: 5, windowMs: 60_000 };
export const DEFAULT_BACKOFF: Backoff = { initialMs: 1_000, factor: 2, maxMs: 30_000, jitter: 0.1 };

export interface SupervisorSpec {
  /** `^[a-z][a-z0-9_-]{0,63}$`; the kernel's own may have a prefix: `compose:notes`. */
  readonly name: string;
  /** Default one_for_one. */
  readonly strategy?: Strategy;
  readonly intensity?: Intensity;
  readonly backoff?: Backoff;
  /** Default false. true: exits 0 when no child is left. */
  readonly exitWhenDone?: boolean;
  /** 0 … 1,000, started in order. */
  readonly children: readonly ChildSpec[];
}

export type ChildStart =
  | {
      /** The name of an agent; absent: the general agent. */
      readonly agent?: string;
      readonly intent: string;
      readonly opts?: SpawnOpts;
    }
  | { readonly command: readonly string[]; readonly options?: NativeOptions; readonly opts?: SpawnOpts }
  | { readonly supervisor: SupervisorSpec };

export interface ChildSpec {
  /** Unique in the spec. */
  readonly id: string;
  readonly start: ChildStart;
  /** Default permanent. */
  readonly restart?: Restart;
  /** ms from TERM to KILL, default 5,000; `kill`: at once; `infinity`: no limit, the default of nested supervisors. */
  readonly shutdown?: number | "kill" | "infinity";
}

/** `waiting`, `skipped`: only in compose projects. */
export type ChildState = "waiting" | "running" | "restarting" | "stopped" | "done" | "skipped";

export interface ChildView {
  readonly id: string;
  readonly pid: Pid | null;
  readonly state: ChildState;
  readonly restart: Restart;
  readonly restarts: number;
  readonly lastExit: ExitStatus | null;
  /** Wall clock, ms; null unless restarting. */
  readonly nextStartAt: number | null;
}

/** `/proc/<pid>/supervisor`. */
export interface SupervisorView {
  readonly name: string;
  readonly strategy: Strategy;
  readonly intensity: Intensity;
  readonly children: readonly ChildView[];
  /** Newest last; at most 20 per child. */
  readonly crashes: readonly CrashReport[];
}

export type RestartDecision = "none" | "drop" | "restart" | "escalate";

export interface CrashReport {
  readonly supervisor: string;
  readonly child: string;
  readonly pid: Pid;
  readonly exit: ExitStatus;
  /** The error behind the exit, else its reason. */
  readonly cause: string;
  /** Restarts of this supervisor within the window, this one included; those after the loss of a daemon do not count. */
  readonly restarts: number;
  readonly decision: RestartDecision;
  /** The delay before the restart; 0 if it is not restarted. */
  readonly delayMs: number;
  /** Wall clock, ms. */
  readonly at: number;
}
