/** A machine whose clocks a test moves: time passes with or without the program (a freeze), or the wall clock jumps. */
import type { Machine } from "../time/steady-clock.ts";

interface Timer {
  readonly at: number;
  readonly act: () => void;
  readonly keepsAlive: boolean;
}

export class FakeMachine implements Machine {
  /** The number of timers fired; each is a wakeup of the program. */
  wakeups = 0;
  #mono = 1_000;
  #wall = 1_700_000_000_000;
  readonly #timers = new Set<Timer>();

  now(): number {
    return this.#wall;
  }

  mono(): number {
    return this.#mono;
  }

  after(ms: number, act: () => void, keepsAlive: boolean): () => void {
    const timer = { at: this.#mono + Math.max(1, ms), act, keepsAlive };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** The number of armed timers; with `keepsAlive` only those that do (or do not) keep the program from ending. */
  pending(keepsAlive?: boolean): number {
    return [...this.#timers].filter((timer) => timer.keepsAlive === (keepsAlive ?? timer.keepsAlive)).length;
  }

  /** Lets time pass while the program runs. */
  async advance(ms: number): Promise<void> {
    const end = this.#mono + ms;
    await turn();
    for (let next = this.#due(end); next !== undefined; next = this.#due(end)) {
      this.#pass(next.at - this.#mono);
      await this.#fire(next);
    }
    this.#pass(end - this.#mono);
    await turn();
  }

  /**
   * Lets time pass while the program does not run: timers due in it fire afterwards, in order, all at the same time.
   */
  async freeze(ms: number): Promise<void> {
    this.#pass(ms);
    for (let next = this.#due(this.#mono); next !== undefined; next = this.#due(this.#mono))
      await this.#fire(next);
  }

  /** Moves the wall clock alone. */
  jump(ms: number): void {
    this.#wall += ms;
  }

  #pass(ms: number): void {
    this.#mono += Math.max(0, ms);
    this.#wall += Math.max(0, ms);
  }

  async #fire(timer: Timer): Promise<void> {
    this.#timers.delete(timer);
    this.wakeups++;
    timer.act();
    await turn();
  }

  #due(end: number): Timer | undefined {
    return [...this.#timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
  }
}

async function turn(): Promise<void> {
  for (let at = 0; at < 3; at++) await new Promise((resolve) => setImmediate(resolve));
}
