/**
 * The life of a process: one closed union, whose cases have what only they have, and the steps from case to case. null is the
 * answer to a step that its case does not have. LifeCycle alone takes them.
 */
import type { Activity, ExitStatus, ProcessState } from "../../../abi/process.ts";

/** It is being made. */
interface Created {
  readonly is: "created";
  /** Its handle is dead: every later call is CANCELLED. */
  readonly isClosed: boolean;
}

interface Running {
  readonly is: "running";
  readonly isClosed: boolean;
  readonly activity: Activity | null;
}

/** It leaves memory without an end, with its daemon: nothing that it does now counts. */
interface Resting {
  readonly is: "resting";
  readonly was: Created | Running;
}

/** Its exit is decided, and journalled now. */
interface Finishing {
  readonly is: "finishing";
  readonly activity: Activity | null;
  readonly over: Promise<void>;
  /** Ends its wait for the disk. */
  readonly hurry: AbortController;
}

interface Ended {
  readonly exit: ExitStatus;
  /** Monotonic milliseconds. */
  readonly endedMono: number;
  /** Resolves when its exit was told to all. */
  readonly over: Promise<void>;
}

interface Zombie extends Ended {
  readonly is: "zombie";
  /** null: nobody has begun. */
  readonly reaping: Promise<void> | null;
}

interface Dead extends Ended {
  readonly is: "dead";
  readonly reaping: Promise<void>;
}

export type Life = Created | Running | Resting | Finishing | Zombie | Dead;

/** What the process table shows of it. */
export function stateOf(life: Life): ProcessState {
  if (life.is === "resting") return life.was.is;
  return life.is === "finishing" ? "running" : life.is;
}

/** One that is cut off while it is made is made to its end. */
export function started(life: Life): Life | null {
  if (life.is === "created") return { is: "running", isClosed: life.isClosed, activity: null };
  if (life.is !== "resting" || life.was.is !== "created") return null;
  return { is: "resting", was: { is: "running", isClosed: true, activity: null } };
}

/** Twice is once; one that rests or ends is closed. */
export function closed(life: Life): Life {
  return life.is === "created" || life.is === "running" ? { ...life, isClosed: true } : life;
}

/** What one does that does not run is nobody's matter. */
export function acting(life: Life, activity: Activity | null): Life {
  return life.is === "running" ? { ...life, activity } : life;
}

/** An exit that is decided stands. */
export function rested(life: Life): Life {
  return life.is === "created" || life.is === "running" ? { is: "resting", was: life } : life;
}

/** KILL reaches one that rests, as long as it is there. */
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
