/**
 * What the journal keeps of a supervisor: the body of its `process.state`, and the small records that change it from then on.
 * Pure: records in, in their order. No environments. Bounded by the children of the specification and MAX_RESTARTS.
 */

import type { BudgetLimits } from "../abi/budget.ts";
import { Fault } from "../abi/errors.ts";
import type { Pid, ProcUuid } from "../abi/ids.ts";
import type { ExitStatus, PermissionMode } from "../abi/process.ts";
import type { RequestMark } from "../abi/request-mark.ts";
import type { ChildState, CrashReport } from "../abi/supervise.ts";
import type { KeptAbove } from "../kernel/account/kept-account.ts";
import type { JournalRecord, RecordKind, RecordOwner } from "../kernel/ports/journal.ts";
import type { ProcessSeed } from "../kernel/process/process.ts";
import type { KeptProject } from "./compose/kept.ts";
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
  readonly project: KeptProject | null;
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

/** Restarts that are remembered over the end of a daemon; a supervisor that may restart more often loses the oldest of them. */
const MAX_RESTARTS = 10_000;

/** Characters. */
const MAX_REASON = 200;

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

/** A state and what its changes make of it. One supervisor changes it. */
export class SupervisorFold {
  #kept: KeptSupervisor;
  readonly #children: Map<string, KeptChild>;
  readonly #window: number[];

  constructor(kept: KeptSupervisor) {
    this.#kept = kept;
    this.#children = new Map(kept.children.map((child) => [child.id, child]));
    this.#window = [...kept.window];
  }

  /** As a `process.state` that stands for all records so far. */
  get kept(): KeptSupervisor {
    return { ...this.#kept, window: [...this.#window], children: [...this.#children.values()] };
  }

  find(id: string): KeptChild | undefined {
    return this.#children.get(id);
  }

  /** INTERNAL: a record that is not understood; what is left out would be missing from the supervisor. */
  take({ kind, v, lsn, body }: Pick<JournalRecord, "kind" | "v" | "lsn" | "body">): void {
    if (!FOLDED.has(kind)) return;
    const known = (body ?? {}) as Record<string, unknown>;
    if (v !== 1 || "omitted" in known) {
      const message = `record ${lsn} (${kind}) cannot be read here: ${String(known.omitted ?? `version ${v}`)}`;
      throw new Fault({ code: "INTERNAL", message });
    }
    if (kind === "supervisor.crash") this.crash(known as unknown as KeptCrash);
    else if (kind === "process.checkpoint") this.change(known as unknown as SupervisorChange);
    else if (kind === "supervisor.escalated")
      this.change({ ending: { kind: "escalated", reason: String(known.reason) } });
  }

  change(change: SupervisorChange): void {
    if ("open" in change) this.#kept = { ...this.#kept, isOpen: true };
    // the first reason stands
    else if ("ending" in change) this.#kept = { ...this.#kept, ending: this.#kept.ending ?? change.ending };
    else this.#update(change.child, (child) => changed(child, change));
  }

  crash({ child: id, pid, exit, decision, delayMs, at, row, ranMs, used }: KeptCrash): void {
    if (decision === "restart") this.#window.push(at);
    if (this.#window.length > MAX_RESTARTS) this.#window.shift();
    this.#update(id, (child) => ({
      ...child,
      row,
      ranMs,
      endowment: { ...child.endowment, used },
      lastExit: { ...exit, reason: exit.reason.slice(0, MAX_REASON) },
      endedAt: at,
      isRunning: child.isRunning && child.run?.pid !== pid,
      hasCompleted: child.hasCompleted || exit.code === 0,
      restarts: child.restarts + (decision === "restart" ? 1 : 0),
      nextStartAt: decision === "restart" ? at + delayMs : 0,
      state: AFTER[decision] ?? child.state,
    }));
  }

  /** It is not started by this daemon, and that it was lost is nobody's exit. */
  withhold(id: string, state: "stopped" | "skipped"): void {
    this.#update(id, (child) => ({ ...child, isRunning: false, state, nextStartAt: 0 }));
  }

  /** A project changes its children while it runs. */
  reshape(
    project: KeptProject | null,
    children: readonly KeptChild[],
    request: RequestMark | undefined,
  ): void {
    this.#kept = { ...this.#kept, project, ...(request === undefined ? {} : { request }) };
    this.#children.clear();
    for (const child of children) this.#children.set(child.id, child);
  }

  #update(id: string, update: (child: KeptChild) => KeptChild): void {
    const child = this.#children.get(id);
    if (child !== undefined) this.#children.set(id, update(child));
  }
}

const FOLDED: ReadonlySet<RecordKind> = new Set<RecordKind>([
  "process.checkpoint",
  "supervisor.crash",
  "supervisor.escalated",
]);

const AFTER: Readonly<Record<CrashReport["decision"], ChildState | undefined>> = {
  none: undefined,
  drop: "done",
  restart: "restarting",
  escalate: "stopped",
};

function useOf({ used, usd }: { used: number; usd?: number }): Pick<KeptEndowment, "used" | "usd"> {
  return { used, ...(usd === undefined ? {} : { usd }) };
}

function changed(child: KeptChild, change: Extract<SupervisorChange, { child: string }>): KeptChild {
  if ("run" in change) {
    const { run, endowment } = change;
    return { ...child, run, endowment, isRunning: true, state: "running", nextStartAt: 0 };
  }
  if ("state" in change) return { ...child, state: change.state };
  if ("used" in change) return { ...child, endowment: { ...child.endowment, ...useOf(change) } };
  if ("limits" in change) {
    const { limits } = change;
    return { ...child, endowment: { ...child.endowment, limits, limit: limits.tokens ?? 0 } };
  }
  return { ...child, isReady: true };
}

/** It ran, or was to run. */
export function isUp(child: KeptChild | undefined): boolean {
  if (child === undefined) return false;
  return child.isRunning || UP.has(child.state);
}

const UP: ReadonlySet<ChildState> = new Set<ChildState>(["running", "restarting", "waiting"]);
