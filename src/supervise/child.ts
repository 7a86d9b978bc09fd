/** One child of a supervisor: what it is now, and what is remembered of it. Only its supervisor changes it. */
import type { Pid } from "../abi/ids.ts";
import type { ExitStatus } from "../abi/process.ts";
import type { ChildState, ChildView, CrashReport } from "../abi/supervise.ts";
import { LIMITS } from "../kernel/limits.ts";
import type { Process } from "../kernel/process/process.ts";
import type { Units } from "../kernel/process/units.ts";
import type { Endowment } from "./endowment.ts";
import { type KeptChild, newChild } from "./kept-supervisor.ts";
import type { Sibling } from "./restart-plan.ts";
import type { CheckedChild } from "./spec.ts";

/** A process under supervision. */
export interface ChildRun {
  readonly pid: Pid;
  /** null: it was lost with an earlier daemon, or had ended in it. */
  readonly proc: Process | null;
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

/** What it has from its supervisor. */
interface Upkeep {
  readonly endowment: Endowment;
  /** What is done to it, one after another. */
  readonly lane: Units;
  readonly state: ChildState;
  /** Hears of each state that no exit and no start has brought about. */
  onState(child: Child): void;
}

export class Child {
  spec: CheckedChild;
  readonly endowment: Endowment;
  /** What is done to it, one after another. */
  readonly lane: Units;
  run: ChildRun | null = null;
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
  #state: ChildState;
  readonly #onState: Upkeep["onState"];

  constructor(spec: CheckedChild, { endowment, lane, state, onState }: Upkeep) {
    this.spec = spec;
    this.endowment = endowment;
    this.lane = lane;
    this.#state = state;
    this.#onState = onState;
  }

  get state(): ChildState {
    return this.#state;
  }

  set state(next: ChildState) {
    this.#state = next;
    this.#onState(this);
  }

  /** By an exit or a start, which are told elsewhere. */
  become(state: ChildState): void {
    this.#state = state;
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

  begin(run: ChildRun): void {
    this.run = run;
    this.pid = run.pid;
    this.become("running");
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

  /** As an earlier daemon left it; its runs are entered when it begins. */
  restore(kept: KeptChild): void {
    this.#state = kept.state;
    this.pid = kept.run?.pid ?? null;
    this.row = kept.row;
    this.restarts = kept.restarts;
    this.lastExit = kept.lastExit;
    this.ranMs = kept.ranMs;
    this.nextStartAt = kept.nextStartAt === 0 ? null : kept.nextStartAt;
  }

  /** Of one that has not run yet. */
  get kept(): KeptChild {
    return newChild(this.id, this.state, this.endowment.kept);
  }

  view(): ChildView {
    const { id, pid, state, restarts, lastExit, nextStartAt } = this;
    return { id, pid, state, restart: this.spec.restart, restarts, lastExit, nextStartAt };
  }
}

const IDLE: ReadonlySet<ChildState> = new Set(["stopped", "done", "skipped"]);
