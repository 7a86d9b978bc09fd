/** One child of a supervisor: its present state and its past. Only its supervisor changes it. */

import type { Pid } from "../abi/ids.ts";
import type { ExitStatus } from "../abi/process.ts";
import type { ChildState, ChildView, CrashReport } from "../abi/supervise.ts";
import { LIMITS } from "../kernel/limits.ts";
import type { Process } from "../kernel/process/process.ts";
import { ABORTED } from "../lib/abort.ts";
import type { Serial } from "../lib/serial.ts";
import type { Endowment } from "./endowment.ts";
import { type KeptChild, newChild } from "./record/kept-supervisor.ts";
import type { Sibling } from "./restart-plan.ts";
import type { CheckedChild } from "./spec.ts";

/** A process under supervision. */
export interface ChildRun {
  readonly pid: Pid;
  /** null: it was lost with an earlier daemon, or had ended in it. */
  readonly proc: Process | null;
  /** Monotonic time, ms. */
  readonly startedMono: number;
  /** Resolves when it has ended, is reaped, and all its output has been passed on. Never rejects. */
  readonly gone: Promise<ExitStatus>;
  /** Set while it is being shut down. */
  stopping: Promise<void> | null;
}

/** A start in progress. */
export interface Attempt {
  readonly stop: AbortController;
  readonly over: Promise<void>;
}

/** Children that wait together for a start; a child that leaves the round is not started by it. */
export interface Round {
  readonly children: readonly Child[];
  /** Ends the wait of the round. */
  readonly stop: AbortController;
}

/** What a child gets from its supervisor. */
interface Upkeep {
  readonly endowment: Endowment;
  /** The lane in which all actions on this child run, one after another. */
  readonly lane: Serial;
  readonly state: ChildState;
  /** Called at each change of state that is not caused by an exit or a start. */
  onState(child: Child): void;
}

export class Child {
  spec: CheckedChild;
  readonly endowment: Endowment;
  /** The lane in which all actions on this child run, one after another. */
  readonly lane: Serial;
  run: ChildRun | null = null;
  starting: Attempt | null = null;
  round: Round | null = null;
  /** Wall-clock time, ms. */
  nextStartAt: number | null = null;
  /** Restarts in a row. */
  row = 0;
  /** All restarts. */
  restarts = 0;
  pid: Pid | null = null;
  lastExit: ExitStatus | null = null;
  /** The duration of the last ended run, ms. */
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

  /** Changes the state at an exit or a start, which are reported separately. */
  become(state: ChildState): void {
    this.#state = state;
  }

  get id(): string {
    return this.spec.id;
  }

  /** It will not run again until it is started by a call. */
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

  /** `startAt`: wall-clock time, ms. */
  join(round: Round, startAt: number): void {
    this.leaveRound();
    this.round = round;
    this.state = "restarting";
    this.nextStartAt = startAt;
  }

  /** Cancels its planned start; ends the wait of the round when no child is left in it. */
  leaveRound(): void {
    const { round } = this;
    this.round = null;
    this.nextStartAt = null;
    if (round?.children.every((child) => child.round !== round) === true) round.stop.abort(ABORTED);
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

  /** Restores the state recorded by an earlier daemon; Comeback.enter() restores the run. */
  restore(kept: KeptChild): void {
    this.#state = kept.state;
    this.pid = kept.run?.pid ?? null;
    this.row = kept.row;
    this.restarts = kept.restarts;
    this.lastExit = kept.lastExit;
    this.ranMs = kept.ranMs;
    this.nextStartAt = kept.nextStartAt === 0 ? null : kept.nextStartAt;
  }

  /** The state of a child that has not run yet, for the journal. */
  get kept(): KeptChild {
    return newChild(this.id, this.state, this.endowment.kept);
  }

  view(): ChildView {
    const { id, pid, state, restarts, lastExit, nextStartAt } = this;
    return { id, pid, state, restart: this.spec.restart, restarts, lastExit, nextStartAt };
  }
}

const IDLE: ReadonlySet<ChildState> = new Set(["stopped", "done", "skipped"]);
