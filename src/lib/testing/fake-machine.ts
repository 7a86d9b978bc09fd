/** A machine whose clocks a test moves: time goes by, stops for the program alone (a freeze), or jumps on the wall. */
import type { Machine } from "../steady-clock.ts";

interface Timer {
  readonly at: number;
  readonly act: () => void;
  readonly keepsAlive: boolean;
}

export class FakeMachine implements Machine {
  /** Timers that have fired: each is a wakeup of the program. */
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

  /** Timers that are armed; `keepsAlive`: those that keep the program from ending. */
  pending(keepsAlive?: boolean): number {
    return [...this.#timers].filter((timer) => timer.keepsAlive === (keepsAlive ?? timer.keepsAlive)).length;
  }

  /** Time goes by, and the program runs. */
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

  /** Time goes by, and the program does not run: what was due in it fires when it goes on, in order, all at the same time. */
  async freeze(ms: number): Promise<void> {
    this.#pass(ms);
    for (let next = this.#due(this.#mono); next !== undefined; next = this.#due(this.#mono))
      await this.#fire(next);
  }

  /** The wall clock is set. */
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
