/** The one holder of a life: it takes each step at once, or refuses it and changes nothing. */
import type { Pid } from "../../../abi/ids.ts";
import type { Activity, ExitStatus, ProcessState } from "../../../abi/process.ts";
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
  /** Hears of each step. */
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

  /** Not ended: created or running. */
  get isLive(): boolean {
    return this.#now.is !== "zombie" && this.#now.is !== "dead";
  }

  /** Its exit is decided, whether it is journalled yet or not. */
  get hasFinished(): boolean {
    return this.#now.is === "finishing" || !this.isLive;
  }

  /** Neither its end nor its rest has begun. */
  get isHere(): boolean {
    return this.#now.is === "created" || this.#now.is === "running";
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

  /** Monotonic milliseconds of its exit; null: it lives. */
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

  /** Every later call of its program is CANCELLED. */
  close(): void {
    this.#now = closed(this.#now);
  }

  /** Whoever says that it waits for a person lets its work be checked after that. */
  act(activity: Activity | null): void {
    this.#now = acting(this.#now, activity);
  }

  /** False: it rests already, or its exit is decided. */
  rest(): boolean {
    const now = rested(this.#now);
    if (now === this.#now) return false;
    this.#now = now;
    this.#changed();
    return true;
  }

  /** Once, whoever comes first. */
  finish(act: (hurry: AbortSignal) => Promise<void>): Promise<void> {
    if ("over" in this.#now) return this.#now.over;
    const over = Promise.withResolvers<void>();
    const hurry = new AbortController();
    this.#turn("Exit", "zombie", finishing(this.#now, over.promise, hurry));
    act(hurry.signal).then(over.resolve, over.reject);
    return over.promise;
  }

  /** An exit that waits for the disk waits no longer. */
  hurry(): void {
    if (this.#now.is === "finishing") this.#now.hurry.abort();
  }

  exited(exit: ExitStatus, mono: number): void {
    this.#turn("Exit", "zombie", exited(this.#now, exit, mono));
  }

  /** Once, whoever comes first. */
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
