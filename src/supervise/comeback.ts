/**
 * A supervisor's children as an earlier daemon left them: those that ran were lost with it, or had ended when nobody could tell
 * it any more. A supervisor among them that came back is taken in again.
 */
import { PID_KERNEL, type ProcUuid } from "../abi/ids.ts";
import type { ExitStatus } from "../abi/process.ts";
import type { Clock } from "../abi/program.ts";
import type { Journal, JournalRecord } from "../kernel/ports/journal.ts";
import type { Process } from "../kernel/process/process.ts";
import type { Child, ChildRun } from "./child.ts";
import type { ChildRuns } from "./child-runs.ts";
import type { SupervisorFold } from "./facet.ts";
import type { KeptChild, KeptRun, KeptSupervisor } from "./kept-supervisor.ts";

/** How a run ended of which the supervisor did not hear. */
interface LastExit {
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

/** Of children that had ended; the others were lost at `diedAt`, as near as is known. */
export async function lastExits(
  journal: Journal,
  { children }: KeptSupervisor,
): Promise<{ exits: ReadonlyMap<string, LastExit>; diedAt: number | undefined }> {
  const exits = new Map<string, LastExit>();
  for (const { id, run, isRunning } of children) {
    const exit = isRunning && run !== null ? await lastExit(journal, run) : undefined;
    if (exit !== undefined) exits.set(id, exit);
  }
  const [newest] = await journal.rows({ limit: 1 });
  return { exits, diedAt: newest?.lastAt };
}

/** Records at the end of a history: its exit is among them, and a signal just before it. */
const LAST_RECORDS = 16;
/** TERM, KILL, INT. */
const ENDING_SIGNALS: ReadonlySet<unknown> = new Set([1, 2, 3]);

async function lastExit(journal: Journal, { uuid }: KeptRun): Promise<LastExit | undefined> {
  const row = await journal.row(uuid);
  if (row === undefined || row.exit === null) return undefined;
  const from = Math.max(1, row.lastSeq - LAST_RECORDS + 1);
  const records = await journal.read(uuid, from, LAST_RECORDS);
  const found = records.find(({ kind }) => kind === "process.exited");
  if (found === undefined) return { exit: LOST, isOrdered: false, at: row.lastAt };
  const { code, reason, kind } = found.body as ExitStatus;
  const isOrdered =
    kind === "killed" && reason !== LOST.reason && isSignalled(row.kind === "native", records);
  return { exit: { code, reason, kind }, isOrdered, at: found.at };
}

/** A verdict on a process of ours is the kernel's; a program of the host may have been ended by the host. */
function isSignalled(isNative: boolean, records: readonly JournalRecord[]): boolean {
  if (!isNative) return true;
  return records.some(
    ({ kind, body }) => kind === "signal" && ENDING_SIGNALS.has((body as { signal?: unknown }).signal),
  );
}
