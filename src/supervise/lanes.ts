/**
 * The tasks of a supervisor, run one after another in each lane; none runs before the supervisor is open or after it
 * begins to end. Bounded: each child has at most one exit and one wait in progress, and there are at most 64 calls.
 */

import { messageOf } from "../abi/errors.ts";
import { LIMITS } from "../kernel/limits.ts";
import { ABORTED, abortable } from "../lib/abort.ts";
import type { Serial } from "../lib/serial.ts";
import { ended, unavailable } from "./ending.ts";

export class Lanes {
  readonly #name: string;
  readonly #onBug: (error: unknown) => void;
  /** Fires when the supervisor begins to end. */
  readonly #halt = new AbortController();
  readonly #opened = Promise.withResolvers<void>();
  readonly #tasks = new Set<Promise<void>>();
  #calls = 0;

  constructor(name: string, onBug: (error: unknown) => void) {
    this.#name = name;
    this.#onBug = onBug;
    this.#opened.promise.catch(() => {});
  }

  /** Rejects with the error passed to `close`, if that comes first. */
  get opened(): Promise<void> {
    return this.#opened.promise;
  }

  open(): void {
    this.#opened.resolve();
  }

  /** Drops the tasks that wait for their turn. */
  close(error: Error): void {
    this.#opened.reject(error);
    this.#halt.abort(ABORTED);
  }

  /** Resolves when the task is done or dropped. Never rejects; an error is a bug and goes to `onBug`. */
  run(lane: Serial, act: () => Promise<void>): Promise<void> {
    return this.keep(this.#run(lane, act));
  }

  /**
   * Runs a task for a caller, who gets its errors. UNAVAILABLE: too many calls wait. CANCELLED: the supervisor ends.
   */
  async call(lane: Serial, act: () => Promise<void>): Promise<void> {
    const { signal } = this.#halt;
    if (this.#calls >= LIMITS.supervisorCalls)
      throw unavailable(`${this.#calls} calls wait for supervisor ${this.#name}`);
    this.#calls++;
    try {
      await abortable(this.#opened.promise, signal);
      const done = lane.run(act, signal);
      void this.keep(done.catch(() => {}));
      await done;
    } catch (error) {
      throw error === signal.reason ? ended(this.#name) : error;
    } finally {
      this.#calls--;
    }
  }

  /** Registers a task that `settled` waits for. The task must not reject. */
  keep(task: Promise<void>): Promise<void> {
    this.#tasks.add(task);
    return task.finally(() => this.#tasks.delete(task));
  }

  /** Resolves when all tasks begun so far are finished. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#tasks);
  }

  async #run(lane: Serial, act: () => Promise<void>): Promise<void> {
    const { signal } = this.#halt;
    try {
      await abortable(this.#opened.promise, signal);
      await lane.run(act, signal);
    } catch (error) {
      if (error !== signal.reason) this.#onBug(error instanceof Error ? error : new Error(messageOf(error)));
    }
  }
}
