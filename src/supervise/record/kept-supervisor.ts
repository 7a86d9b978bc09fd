/**
 * The records of a supervisor in the journal: the body of its `process.state`, and the small records that change it
 * later (facet.ts). They contain no environments.
 */
import type { BudgetLimits } from "../../abi/budget.ts";
import type { Pid, ProcUuid } from "../../abi/ids.ts";
import type { ExitStatus, PermissionMode } from "../../abi/process.ts";
import type { RequestMark } from "../../abi/request-mark.ts";
import type { ChildState, CrashReport } from "../../abi/supervise.ts";
import type { KeptAbove } from "../../kernel/account/kept-account.ts";
import type { RecordOwner } from "../../kernel/ports/journal.ts";
import type { ProcessSeed } from "../../kernel/process/process-seed.ts";
import type { KeptAgent } from "./kept-agent.ts";

/** A run of a child. */
export interface KeptRun {
  readonly pid: Pid;
  readonly uuid: ProcUuid;
  /** The start of the run; wall-clock time, ms. */
  readonly at: number;
}

/** What a child keeps from run to run (endowment.ts). */
export interface KeptEndowment {
  /** The token limit; 0: no limit of its own; null: no account yet. */
  readonly limit: number | null;
  /** All limits, if there are more than the token limit. */
  readonly limits?: BudgetLimits;
  readonly used: number;
  /** The money used, in millionths of a dollar. */
  readonly usd?: number;
  readonly mode: PermissionMode | null;
  /** null: not an agent, or not loaded yet. */
  readonly agent: KeptAgent | null;
}

export interface KeptChild {
  readonly id: string;
  readonly state: ChildState;
  /** The newest run; null: never started. */
  readonly run: KeptRun | null;
  readonly isRunning: boolean;
  readonly endowment: KeptEndowment;
  /** `row`: restarts in a row; `restarts`: all restarts. */
  readonly row: number;
  readonly restarts: number;
  readonly lastExit: ExitStatus | null;
  /** The duration of the last ended run, ms. */
  readonly ranMs: number;
  /** When it ended, and when it is to start again (0: not planned); wall-clock time, ms. */
  readonly endedAt: number;
  readonly nextStartAt: number;
  /** For a project: it has been ready (`isReady`); it has exited with 0 (`hasCompleted`). */
  readonly isReady: boolean;
  readonly hasCompleted: boolean;
}

export type KeptEnding =
  | { readonly kind: "signal"; readonly code: number; readonly reason: string }
  | { readonly kind: "escalated"; readonly reason: string }
  | { readonly kind: "done" };

/** The body of `process.state` of a supervisor. */
export interface KeptSupervisor extends KeptAbove, Pick<ProcessSeed, "roots" | "onParentExit"> {
  /** The version of this format; the key distinguishes it from the state of an agent. */
  readonly supervisor: 1;
  readonly session: RecordOwner | null;
  /**
   * The rights its children get a part of: the user's (`person`), or its own or those of the supervisor above it
   * (`own`).
   */
  readonly rights: "person" | "own";
  /** Its child id in the supervisor above it; null: not nested. */
  readonly nestedAs: string | null;
  /** The compose project that it supervises, in its own format (compose/kept.ts). */
  readonly project: object | null;
  /** The request that last changed the running project. */
  readonly request?: RequestMark;
  /** It has opened: its client may have been notified that it runs. */
  readonly isOpen: boolean;
  readonly ending: KeptEnding | null;
  /** The times of the restarts within the window, rising; wall-clock time, ms. */
  readonly window: readonly number[];
  readonly children: readonly KeptChild[];
}

/** The body of `process.checkpoint` of a supervisor: one change. */
export type SupervisorChange =
  | { readonly child: string; readonly run: KeptRun; readonly endowment: KeptEndowment }
  | { readonly child: string; readonly state: ChildState }
  | { readonly child: string; readonly used: number; readonly usd?: number }
  | { readonly child: string; readonly limits: BudgetLimits }
  | { readonly child: string; readonly ready: true }
  | { readonly open: true }
  | { readonly ending: KeptEnding };

/** The body of `supervisor.crash`. */
export interface KeptCrash extends CrashReport {
  /** Restarts in a row after this exit. */
  readonly row: number;
  readonly ranMs: number;
  /** Tokens used of its account. */
  readonly used: number;
}

const UNTOUCHED: Omit<KeptChild, "id" | "state" | "endowment"> = {
  run: null,
  isRunning: false,
  row: 0,
  restarts: 0,
  lastExit: null,
  ranMs: 0,
  endedAt: 0,
  nextStartAt: 0,
  isReady: false,
  hasCompleted: false,
};

export function newChild(id: string, state: ChildState, endowment: KeptEndowment): KeptChild {
  return { id, state, endowment, ...UNTOUCHED };
}

/** It was running or about to run. */
export function isUp(child: KeptChild | undefined): boolean {
  if (child === undefined) return false;
  return child.isRunning || UP.has(child.state);
}

const UP: ReadonlySet<ChildState> = new Set<ChildState>(["running", "restarting", "waiting"]);
