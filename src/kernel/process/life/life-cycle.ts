/** The only holder of a life: it takes each step at once, or refuses it and changes nothing. */

import type { Pid } from "../../../abi/ids.ts";
import type { Activity, ExitStatus, ProcessState } from "../../../abi/process.ts";
import { ABORTED } from "../../../lib/abort.ts";
import {
  acting,
  buried,
  closed,
  exited,
  finishing,
  type Life,
  reaped,
  rested,
  started,
  stateOf,
} from "./life.ts";
import { illegal } from "./state.ts";

export class LifeCycle {
  readonly #pid: Pid;
  /** Called after each step. */
  readonly #changed: () => void;
  #now: Life = { is: "created", isClosed: false };
  #loop: Promise<void> = Promise.resolve();

  constructor(pid: Pid, changed: () => void) {
    this.#pid = pid;
    this.#changed = changed;
  }

  get now(): Life {
    return this.#now;
  }

  get state(): ProcessState {
    return stateOf(this.#now);
  }

  /** The process has not ended. */
  get isLive(): boolean {
    return this.#now.is !== "zombie" && this.#now.is !== "dead";
  }

  /** The exit is decided, though perhaps not journalled yet. */
  get hasFinished(): boolean {
    return this.#now.is === "finishing" || !this.isLive;
  }

  /** The process has neither begun to end nor to rest. */
  get isHere(): boolean {
    return (this.#now.is === "created" || this.#now.is === "running") && !this.#now.isClosed;
  }

  /** Its program has said its last word, or it has ended: it reads no message any more. */
  get isOver(): boolean {
    return this.isClosed && !this.isResting;
  }

  get isResting(): boolean {
    return this.#now.is === "resting";
  }

  /** The handle is dead: every later call is CANCELLED. */
  get isClosed(): boolean {
    return "isClosed" in this.#now ? this.#now.isClosed : true;
  }

  get activity(): Activity | null {
    const run = this.#now.is === "resting" ? this.#now.was : this.#now;
    return "activity" in run ? run.activity : null;
  }

  get exit(): ExitStatus | null {
    return "exit" in this.#now ? this.#now.exit : null;
  }

  /** Monotonic milliseconds of the exit; null: not ended. */
  get endedMono(): number | null {
    return "exit" in this.#now ? this.#now.endedMono : null;
  }

  /** The promise of the program, its clean-up and the finish; never rejects. */
  get loop(): Promise<void> {
    return this.#loop;
  }

  start(loop: () => Promise<void>): void {
    this.#turn("Spawn", "running", started(this.#now));
    this.#loop = loop();
  }

  /** Revokes the handle: every later call of the program is CANCELLED. */
  close(): void {
    this.#now = closed(this.#now);
  }

  /** A caller that sets an activity in which the process does not work calls `Work.check` afterwards. */
  act(activity: Activity | null): void {
    this.#now = acting(this.#now, activity);
  }

  /** False: already resting, or the exit is decided. */
  rest(): boolean {
    const now = rested(this.#now);
    if (now === this.#now) return false;
    this.#now = now;
    this.#changed();
    return true;
  }

  /** Runs the `act` of the first caller only; later callers get its promise. */
  finish(act: (hurry: AbortSignal) => Promise<void>): Promise<void> {
    if ("over" in this.#now) return this.#now.over;
    const over = Promise.withResolvers<void>();
    const hurry = new AbortController();
    this.#turn("Exit", "zombie", finishing(this.#now, over.promise, hurry));
    act(hurry.signal).then(over.resolve, over.reject);
    return over.promise;
  }

  /** An exit that waits for the disk stops waiting. */
  hurry(): void {
    if (this.#now.is === "finishing") this.#now.hurry.abort(ABORTED);
  }

  exited(exit: ExitStatus, mono: number): void {
    this.#turn("Exit", "zombie", exited(this.#now, exit, mono));
  }

  /** Runs the `act` of the first caller only; later callers get its promise. */
  reap(act: () => Promise<void>): Promise<void> {
    if ("reaping" in this.#now && this.#now.reaping !== null) return this.#now.reaping;
    const over = Promise.withResolvers<void>();
    this.#turn("Reap", "dead", reaped(this.#now, over.promise));
    act().then(over.resolve, over.reject);
    return over.promise;
  }

  bury(): void {
    this.#turn("Reap", "dead", buried(this.#now));
  }

  #turn(syscall: string, to: ProcessState, next: Life | null): void {
    if (next === null) throw illegal(this.state, to, { pid: this.#pid, syscall });
    this.#now = next;
    this.#changed();
  }
}
