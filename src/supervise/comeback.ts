/**
 * The children of a supervisor as an earlier daemon left them. Those that ran were lost with it, or had ended without
 * the supervisor being notified. A nested supervisor that was restored becomes a child again.
 */
import { PID_KERNEL, type ProcUuid } from "../abi/ids.ts";
import { EXIT, type ExitStatus, isLost, SIGNALS } from "../abi/process.ts";
import type { Clock } from "../abi/program.ts";
import type { Journal, JournalRecord } from "../kernel/ports/journal.ts";
import type { Process } from "../kernel/process/process.ts";
import type { Child, ChildRun } from "./child.ts";
import type { ChildRuns } from "./child-runs.ts";
import type { SupervisorFold } from "./record/facet.ts";
import type { KeptChild, KeptRun, KeptSupervisor } from "./record/kept-supervisor.ts";

/** The end of a run of which the supervisor was not notified. */
interface LastExit {
  readonly exit: ExitStatus;
  readonly isOrdered: boolean;
  /** Wall-clock time, ms. */
  readonly at: number;
}

/** A child whose exit the restart policy must judge. */
export interface Departed extends Omit<LastExit, "at"> {
  readonly child: Child;
  readonly run: ChildRun;
}

export class Comeback {
  readonly fold: SupervisorFold;
  readonly #exits: ReadonlyMap<string, LastExit>;
  readonly #diedAt: number;
  readonly #adopted = new Map<string, Process>();
  #departures: readonly Departed[] = [];

  /** `exits`: of children that had ended. `diedAt`: when the others were lost, as far as known; wall-clock time, ms. */
  constructor(fold: SupervisorFold, exits: ReadonlyMap<string, LastExit>, diedAt: number) {
    this.fold = fold;
    this.#exits = exits;
    this.#diedAt = diedAt;
  }

  /** The lost or ended children in start order; known once the supervisor runs. */
  get departures(): readonly Departed[] {
    return this.#departures;
  }

  /** False: that run is not the one recorded for the child. */
  adopt(id: string, uuid: ProcUuid, proc: Process): boolean {
    const kept = this.fold.find(id);
    if (kept?.isRunning !== true || kept.run?.uuid !== uuid) return false;
    this.#adopted.set(id, proc);
    return true;
  }

  /** The times of the restarts so far, monotonic ms. The time between the daemons counts. */
  window(clock: Clock): readonly number[] {
    const [now, mono] = [clock.now(), clock.mono()];
    const times = this.fold.kept.window.map((at) => mono - Math.max(0, now - at));
    return times.sort((a, b) => a - b);
  }

  /** Restores the runs of the children, and collects the departures. */
  enter(children: readonly Child[], runs: ChildRuns, mono: number): void {
    this.#departures = children.flatMap((child) => {
      const kept = this.fold.find(child.id);
      const adopted = this.#adopted.get(child.id);
      if (adopted !== undefined) runs.adopt(child, adopted);
      else if (kept?.isRunning === true) return [this.#departed(child, kept, mono)];
      // it was being restarted: its run had been ended, and the next one not started
      else if (child.state === "running") child.become("restarting");
      return [];
    });
  }

  #departed(child: Child, kept: KeptChild, mono: number): Departed {
    const { exit, isOrdered, at } = this.#exits.get(child.id) ?? {
      exit: EXIT.lost,
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

/** The exits of children that had ended; the others were lost at `diedAt`, as far as known. */
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

/** How many records at the end of a history to search for the exit, and for a signal just before it. */
const LAST_RECORDS = 16;
/** TERM, KILL and INT; a program that handles INT and then exits does that by itself. */
const ENDING_SIGNALS: ReadonlySet<unknown> = new Set([SIGNALS.SIGTERM, SIGNALS.SIGKILL, SIGNALS.SIGINT]);

async function lastExit(journal: Journal, { uuid }: KeptRun): Promise<LastExit | undefined> {
  const row = await journal.row(uuid);
  if (row === undefined || row.exit === null) return undefined;
  const from = Math.max(1, row.lastSeq - LAST_RECORDS + 1);
  const records = await journal.read(uuid, from, LAST_RECORDS);
  const found = records.find(({ kind }) => kind === "process.exited");
  if (found === undefined) return { exit: EXIT.lost, isOrdered: false, at: row.lastAt };
  const { code, reason, kind } = found.body as ExitStatus;
  const exit = { code, reason, kind };
  const isOrdered = !isLost(exit) && isSignalled(exit, row.kind === "native", records);
  return { exit, isOrdered, at: found.at };
}

/**
 * Whether the kernel sent the signal that ended it. A host program may have been ended by the host, and one that handles
 * TERM has an exit code of its own.
 */
function isSignalled({ kind }: ExitStatus, isNative: boolean, records: readonly JournalRecord[]): boolean {
  if (!isNative) return kind === "killed";
  return records.some((record) => {
    const { signal } = record.body as { signal?: unknown };
    const isEnding = kind === "killed" ? ENDING_SIGNALS.has(signal) : signal === SIGNALS.SIGTERM;
    return record.kind === "signal" && isEnding;
  });
}
