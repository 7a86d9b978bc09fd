/** One child of a supervisor: what it is now, and what is remembered of it. Only its supervisor changes it. */
import type { Pid } from "../../abi/ids.ts";
import type { ExitStatus } from "../../abi/process.ts";
import type { ChildState, ChildView, CrashReport } from "../../abi/supervise.ts";
import { LIMITS } from "../limits.ts";
import type { Process } from "../process/process.ts";
import type { Units } from "../process/units.ts";
import type { Endowment } from "./endowment.ts";
import type { Sibling } from "./restart-plan.ts";
import type { CheckedChild } from "./spec.ts";

/** A process under supervision. */
export interface Run {
  readonly proc: Process;
  /** Monotonic ms. */
  readonly startedMono: number;
  /** Resolves when it has ended, is reaped, and all it said has been told. Never rejects. */
  readonly gone: Promise<ExitStatus>;
  /** It is being shut down. */
  stopping: Promise<void> | null;
}

/** A start under way. */
export interface Attempt {
  readonly stop: AbortController;
  readonly over: Promise<void>;
}

/** Children that wait together to be started; who is taken out of it is not started by it. */
export interface Round {
  readonly children: readonly Child[];
  /** Ends the wait. */
  readonly stop: AbortController;
}

export class Child {
  readonly spec: CheckedChild;
  readonly endowment: Endowment;
  /** What is done to it, one after another. */
  readonly lane: Units;
  state: ChildState;
  run: Run | null = null;
  starting: Attempt | null = null;
  round: Round | null = null;
  /** Wall clock, ms. */
  nextStartAt: number | null = null;
  /** Restarts in a row. */
  row = 0;
  /** In all. */
  restarts = 0;
  pid: Pid | null = null;
  lastExit: ExitStatus | null = null;
  /** Of the last run that has ended. */
  ranMs = 0;
  #crashes: CrashReport[] = [];

  constructor(spec: CheckedChild, endowment: Endowment, lane: Units, state: ChildState) {
    this.spec = spec;
    this.endowment = endowment;
    this.lane = lane;
    this.state = state;
  }

  get id(): string {
    return this.spec.id;
  }

  /** It will not run again unless somebody starts it. */
  get isIdle(): boolean {
    return this.run === null && this.starting === null && IDLE.has(this.state);
  }

  get crashes(): readonly CrashReport[] {
    return this.#crashes;
  }

  remember(report: CrashReport): void {
    this.#crashes = [...this.#crashes, report].slice(-LIMITS.crashReports);
  }

  begin(run: Run): void {
    this.run = run;
    this.pid = run.proc.pid;
    this.state = "running";
    this.leaveRound();
  }

  /** `startAt`: wall clock, ms. */
  join(round: Round, startAt: number): void {
    this.leaveRound();
    this.round = round;
    this.state = "restarting";
    this.nextStartAt = startAt;
  }

  /** What was planned for it is not done. */
  leaveRound(): void {
    const { round } = this;
    this.round = null;
    this.nextStartAt = null;
    if (round?.children.every((child) => child.round !== round) === true) round.stop.abort();
  }

  end(exit: ExitStatus, ranMs: number): void {
    this.run = null;
    this.lastExit = exit;
    this.ranMs = ranMs;
  }

  sibling(): Sibling {
    const isUp = this.run !== null || this.state === "restarting";
    return { id: this.id, restart: this.spec.restart, isUp };
  }

  view(): ChildView {
    const { id, pid, state, restarts, lastExit, nextStartAt } = this;
    return { id, pid, state, restart: this.spec.restart, restarts, lastExit, nextStartAt };
  }
}

const IDLE: ReadonlySet<ChildState> = new Set(["stopped", "done", "skipped"]);
