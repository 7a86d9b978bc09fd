/**
 * What a supervisor does, one after another in each lane, and nothing before it is open or once it ends. Bounded: a child has
 * one exit and one wait under way, and of calls there are at most 64.
 */
import { messageOf } from "../abi/errors.ts";
import { LIMITS } from "../kernel/limits.ts";
import type { Units } from "../kernel/process/units.ts";
import { abortable } from "../lib/abort.ts";
import { ended, unavailable } from "./ending.ts";

export class Lanes {
  readonly #name: string;
  readonly #onBug: (error: unknown) => void;
  /** Fires when it begins to end. */
  readonly #halt = new AbortController();
  readonly #opened = Promise.withResolvers<void>();
  readonly #tasks = new Set<Promise<void>>();
  #calls = 0;

  constructor(name: string, onBug: (error: unknown) => void) {
    this.#name = name;
    this.#onBug = onBug;
    this.#opened.promise.catch(() => {});
  }

  /** Rejects with what closed it, if that came first. */
  get opened(): Promise<void> {
    return this.#opened.promise;
  }

  open(): void {
    this.#opened.resolve();
  }

  /** What waits its turn is not done any more. */
  close(error: Error): void {
    this.#opened.reject(error);
    this.#halt.abort();
  }

  /** Resolves when it is done, or will not be. */
  run(lane: Units, act: () => Promise<void>): Promise<void> {
    return this.keep(this.#run(lane, act));
  }

  /** For somebody outside, who gets its errors. UNAVAILABLE: too many wait; CANCELLED: the supervisor ends. */
  async call(lane: Units, act: () => Promise<void>): Promise<void> {
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

  /** Work that is waited for at the end. It does not reject. */
  keep(task: Promise<void>): Promise<void> {
    this.#tasks.add(task);
    return task.finally(() => this.#tasks.delete(task));
  }

  /** All that was begun is over. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#tasks);
  }

  async #run(lane: Units, act: () => Promise<void>): Promise<void> {
    const { signal } = this.#halt;
    try {
      await abortable(this.#opened.promise, signal);
      await lane.run(act, signal);
    } catch (error) {
      if (error !== signal.reason) this.#onBug(error instanceof Error ? error : new Error(messageOf(error)));
    }
  }
}
