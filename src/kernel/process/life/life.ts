/**
 * The life of a process: a closed union of cases, each with its own fields, and the steps from case to case. A step
 * returns null if the current case does not allow it. Only LifeCycle takes steps.
 */
import type { Activity, ExitStatus, ProcessState } from "../../../abi/process.ts";

/** The process is being spawned. */
interface Created {
  readonly is: "created";
  /** The handle is dead: every later call is CANCELLED. */
  readonly isClosed: boolean;
}

interface Running {
  readonly is: "running";
  readonly isClosed: boolean;
  readonly activity: Activity | null;
}

/** The process leaves memory without an exit; nothing that it still does counts. */
interface Resting {
  readonly is: "resting";
  readonly was: Created | Running;
}

/** The exit is decided and being journalled. */
interface Finishing {
  readonly is: "finishing";
  readonly activity: Activity | null;
  readonly over: Promise<void>;
  /** Ends the wait for the disk. */
  readonly hurry: AbortController;
}

interface Ended {
  readonly exit: ExitStatus;
  /** Monotonic milliseconds. */
  readonly endedMono: number;
  /** Resolves when the exit was announced to all watchers. */
  readonly over: Promise<void>;
}

interface Zombie extends Ended {
  readonly is: "zombie";
  /** null: reaping has not begun. */
  readonly reaping: Promise<void> | null;
}

interface Dead extends Ended {
  readonly is: "dead";
  readonly reaping: Promise<void>;
}

export type Life = Created | Running | Resting | Finishing | Zombie | Dead;

/** The state that the process table shows. */
export function stateOf(life: Life): ProcessState {
  if (life.is === "resting") return life.was.is;
  return life.is === "finishing" ? "running" : life.is;
}

/** A process laid to rest during its spawn completes the spawn, but keeps resting. */
export function started(life: Life): Life | null {
  if (life.is === "created") return { is: "running", isClosed: life.isClosed, activity: null };
  if (life.is !== "resting" || life.was.is !== "created") return null;
  return { is: "resting", was: { is: "running", isClosed: true, activity: null } };
}

/** Idempotent; a resting or ending process is closed already. */
export function closed(life: Life): Life {
  return life.is === "created" || life.is === "running" ? { ...life, isClosed: true } : life;
}

/** Ignored unless the process runs. */
export function acting(life: Life, activity: Activity | null): Life {
  return life.is === "running" ? { ...life, activity } : life;
}

/** No effect once an exit is decided. */
export function rested(life: Life): Life {
  return life.is === "created" || life.is === "running" ? { is: "resting", was: life } : life;
}

/** KILL still reaches a resting process, as long as it is in memory. */
export function finishing(life: Life, over: Promise<void>, hurry: AbortController): Life | null {
  const run = life.is === "resting" ? life.was : life;
  if (run.is !== "running") return null;
  return { is: "finishing", activity: run.activity, over, hurry };
}

export function exited(life: Life, exit: ExitStatus, endedMono: number): Life | null {
  if (life.is !== "finishing") return null;
  return { is: "zombie", exit, endedMono, over: life.over, reaping: null };
}

export function reaped(life: Life, reaping: Promise<void>): Life | null {
  if (life.is !== "zombie" || life.reaping !== null) return null;
  return { ...life, reaping };
}

export function buried(life: Life): Life | null {
  if (life.is !== "zombie" || life.reaping === null) return null;
  return { ...life, is: "dead", reaping: life.reaping };
}
