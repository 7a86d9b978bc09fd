/**
 * A supervisor's children as an earlier daemon left them: those that ran were lost with it, or had ended when nobody could tell
 * it any more. A supervisor among them that came back is taken in again.
 */
import { PID_KERNEL, type ProcUuid } from "../abi/ids.ts";
import type { ExitStatus } from "../abi/process.ts";
import type { Clock } from "../abi/program.ts";
import type { Process } from "../kernel/process/process.ts";
import type { Child, ChildRun } from "./child.ts";
import type { ChildRuns } from "./child-runs.ts";
import type { SupervisorFold } from "./facet.ts";
import type { KeptChild } from "./kept-supervisor.ts";

/** How a run ended of which the supervisor did not hear. */
export interface LastExit {
  readonly exit: ExitStatus;
  readonly isOrdered: boolean;
  /** Wall clock, ms. */
  readonly at: number;
}

/** A child whose exit is to be judged. */
export interface Departed extends Omit<LastExit, "at"> {
  readonly child: Child;
  readonly run: ChildRun;
}

export const LOST: ExitStatus = { code: 137, reason: "lost", kind: "killed" };

export class Comeback {
  readonly fold: SupervisorFold;
  readonly #exits: ReadonlyMap<string, LastExit>;
  readonly #diedAt: number;
  readonly #adopted = new Map<string, Process>();
  #departures: readonly Departed[] = [];

  /** `exits`: of children that had ended. `diedAt`: when the others were lost, as far as is known; wall clock, ms. */
  constructor(fold: SupervisorFold, exits: ReadonlyMap<string, LastExit>, diedAt: number) {
    this.fold = fold;
    this.#exits = exits;
    this.#diedAt = diedAt;
  }

  /** In start order, once the supervisor runs. */
  get departures(): readonly Departed[] {
    return this.#departures;
  }

  /** False: that run is not the one the supervisor knows. */
  adopt(id: string, uuid: ProcUuid, proc: Process): boolean {
    const kept = this.fold.find(id);
    if (kept?.isRunning !== true || kept.run?.uuid !== uuid) return false;
    this.#adopted.set(id, proc);
    return true;
  }

  /** Restarts so far, monotonic ms: the time between the daemons counts. */
  window(clock: Clock): readonly number[] {
    const [now, mono] = [clock.now(), clock.mono()];
    const times = this.fold.kept.window.map((at) => mono - Math.max(0, now - at));
    return times.sort((a, b) => a - b);
  }

  /** Puts them back into their runs. */
  enter(children: readonly Child[], runs: ChildRuns, mono: number): void {
    this.#departures = children.flatMap((child) => {
      const kept = this.fold.find(child.id);
      const adopted = this.#adopted.get(child.id);
      if (adopted !== undefined) runs.adopt(child, adopted);
      else if (kept?.isRunning === true) return [this.#departed(child, kept, mono)];
      // it was being exchanged: its end was asked for, and its start was not made
      else if (child.state === "running") child.become("restarting");
      return [];
    });
  }

  #departed(child: Child, kept: KeptChild, mono: number): Departed {
    const { exit, isOrdered, at } = this.#exits.get(child.id) ?? {
      exit: LOST,
      isOrdered: false,
      at: this.#diedAt,
    };
    const ranMs = Math.max(0, at - (kept.run?.at ?? at));
    const pid = kept.run?.pid ?? PID_KERNEL;
    const run: ChildRun = {
      pid,
      proc: null,
      startedMono: mono - ranMs,
      gone: Promise.resolve(exit),
      stopping: null,
    };
    child.begin(run);
    return { child, run, exit, isOrdered };
  }
}
