/**
 * The time that callers have in one round of the event loop, all together. What asks once it is used up goes on in a later round, in
 * order, before which everything else that is ready has its turn. Its queue is as long as its callers are many: they bound it.
 */
export interface TimeSlice {
  /** undefined: the caller goes on at once. Otherwise resolves when it may go on. */
  next(): Promise<void> | undefined;
  /** For one who lets others go on: resolves once all that was let on before has done what it can do, and the time is not used up. */
  turn(): Promise<void>;
}

interface Turns {
  mono(): number;
  /** Calls `begin` in the next round. */
  nextRound(begin: () => void): unknown;
  /** Calls `act` when all that can go on now has done so. */
  afterwards(act: () => void): unknown;
}

const OWN: Turns = {
  mono: () => performance.now(),
  nextRound: setImmediate,
  // a tick that is asked for between microtasks comes behind all of them
  afterwards: (act) => queueMicrotask(() => process.nextTick(act)),
};

export function timeSlice(ms: number, turns: Turns = OWN): TimeSlice {
  return new Slice(ms, turns);
}

class Slice implements TimeSlice {
  readonly #ms: number;
  readonly #turns: Turns;
  readonly #waiting: (() => void)[] = [];
  /** undefined: nobody has asked in this round. */
  #began: number | undefined;
  /** One was let on, and others are once it has done what it can. */
  #isLetting = false;

  constructor(ms: number, turns: Turns) {
    this.#ms = ms;
    this.#turns = turns;
  }

  next(): Promise<void> | undefined {
    if (this.#began === undefined) this.#begin();
    return this.#waiting.length === 0 && !this.#isUsed ? undefined : this.#wait();
  }

  turn(): Promise<void> {
    if (this.#began === undefined) this.#begin();
    const turn = this.#wait();
    if (!this.#isLetting) this.#letOn();
    return turn;
  }

  get #isUsed(): boolean {
    return this.#began !== undefined && this.#turns.mono() - this.#began >= this.#ms;
  }

  #wait(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  #begin(): void {
    this.#began = this.#turns.mono();
    this.#turns.nextRound(() => this.#round());
  }

  #round(): void {
    this.#began = undefined;
    if (this.#waiting.length === 0) return;
    this.#begin();
    if (!this.#isLetting) this.#letOn();
  }

  #letOn(): void {
    this.#isLetting = this.#waiting.length > 0 && !this.#isUsed;
    if (!this.#isLetting) return;
    this.#waiting.shift()?.();
    this.#turns.afterwards(() => this.#letOn());
  }
}
