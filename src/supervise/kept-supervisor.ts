/**
 * What the journal keeps of a supervisor: the body of its `process.state`, and the small records that change it from then on
 * (facet.ts). No environments.
 */
import type { BudgetLimits } from "../abi/budget.ts";
import type { Pid, ProcUuid } from "../abi/ids.ts";
import type { ExitStatus, PermissionMode } from "../abi/process.ts";
import type { RequestMark } from "../abi/request-mark.ts";
import type { ChildState, CrashReport } from "../abi/supervise.ts";
import type { KeptAbove } from "../kernel/account/kept-account.ts";
import type { RecordOwner } from "../kernel/ports/journal.ts";
import type { ProcessSeed } from "../kernel/process/process-seed.ts";
import type { KeptAgent } from "./kept-agent.ts";

/** A run of a child. */
export interface KeptRun {
  readonly pid: Pid;
  readonly uuid: ProcUuid;
  /** Wall clock, ms. */
  readonly at: number;
}

/** What it has from run to run. */
export interface KeptEndowment {
  /** Tokens; 0: no limit of its own. null: it has no account yet. */
  readonly limit: number | null;
  /** Where there are more than that of tokens. */
  readonly limits?: BudgetLimits;
  readonly used: number;
  /** Millionths of a dollar. */
  readonly usd?: number;
  readonly mode: PermissionMode | null;
  /** null: it is no agent, or was not loaded yet. */
  readonly agent: KeptAgent | null;
}

export interface KeptChild {
  readonly id: string;
  readonly state: ChildState;
  /** The newest; null: it was never started. */
  readonly run: KeptRun | null;
  readonly isRunning: boolean;
  readonly endowment: KeptEndowment;
  /** Restarts in a row, and in all. */
  readonly row: number;
  readonly restarts: number;
  readonly lastExit: ExitStatus | null;
  /** Of the last run that has ended. */
  readonly ranMs: number;
  /** Wall clock, ms: when it ended, and when it is to start again. */
  readonly endedAt: number;
  readonly nextStartAt: number;
  /** For a project: it has been ready; it has exited with 0. */
  readonly isReady: boolean;
  readonly hasCompleted: boolean;
}

export type KeptEnding =
  | { readonly kind: "signal"; readonly code: number; readonly reason: string }
  | { readonly kind: "escalated"; readonly reason: string }
  | { readonly kind: "done" };

/** The body of `process.state` of a supervisor. */
export interface KeptSupervisor extends KeptAbove, Pick<ProcessSeed, "roots" | "onParentExit"> {
  /** Version of this form, and what tells it from the state of an agent. */
  readonly supervisor: 1;
  readonly session: RecordOwner | null;
  /** Of whose rights its children get part: the person's, or those of its own, or of the supervisor above it. */
  readonly rights: "person" | "own";
  /** Which child it is of the supervisor above it. */
  readonly nestedAs: string | null;
  /** Of what it is the supervisor, in a form of its own (compose/kept.ts). */
  readonly project: object | null;
  /** Of the client that has changed the project while it ran, the last. */
  readonly request?: RequestMark;
  /** Whoever asked for it was told that it runs. */
  readonly isOpen: boolean;
  readonly ending: KeptEnding | null;
  /** Wall clock, ms, rising: restarts within the window. */
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
  /** Restarts in a row after it. */
  readonly row: number;
  readonly ranMs: number;
  /** Tokens of its account. */
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

/** It ran, or was to run. */
export function isUp(child: KeptChild | undefined): boolean {
  if (child === undefined) return false;
  return child.isRunning || UP.has(child.state);
}

const UP: ReadonlySet<ChildState> = new Set<ChildState>(["running", "restarting", "waiting"]);
