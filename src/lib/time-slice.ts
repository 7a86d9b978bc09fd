/**
 * The time that callers have in one round of the event loop, all together. What asks once it is used up goes on in a later round, in
 * order, before which everything else that is ready has its turn. While some wait who come first, they and the others go on by turns.
 * Its queue is as long as its callers are many: they bound it.
 */
export interface TimeSlice {
  /** undefined: the caller goes on at once. Otherwise resolves when it may go on. */
  next(isFirst?: boolean): Promise<void> | undefined;
  /** For one who lets others go on: resolves once all that was let on before has done what it can do, and the time is not used up. */
  turn(isFirst?: boolean): Promise<void>;
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
  readonly #first: (() => void)[] = [];
  readonly #others: (() => void)[] = [];
  /** Of the last one who was let on while both waited. */
  #wasFirst = false;
  /** undefined: nobody has asked in this round. */
  #began: number | undefined;
  /** One was let on, and others are once it has done what it can. */
  #isLetting = false;

  constructor(ms: number, turns: Turns) {
    this.#ms = ms;
    this.#turns = turns;
  }

  next(isFirst = false): Promise<void> | undefined {
    if (this.#began === undefined) this.#begin();
    return this.#isEmpty && !this.#isUsed ? undefined : this.#wait(isFirst);
  }

  turn(isFirst = false): Promise<void> {
    if (this.#began === undefined) this.#begin();
    const turn = this.#wait(isFirst);
    if (!this.#isLetting) this.#letOn();
    return turn;
  }

  get #isEmpty(): boolean {
    return this.#first.length === 0 && this.#others.length === 0;
  }

  get #isUsed(): boolean {
    return this.#began !== undefined && this.#turns.mono() - this.#began >= this.#ms;
  }

  #wait(isFirst: boolean): Promise<void> {
    return new Promise((resolve) => {
      (isFirst ? this.#first : this.#others).push(resolve);
    });
  }

  #begin(): void {
    this.#began = this.#turns.mono();
    this.#turns.nextRound(() => this.#round());
  }

  #round(): void {
    this.#began = undefined;
    if (this.#isEmpty) return;
    this.#begin();
    if (!this.#isLetting) this.#letOn();
  }

  #letOn(): void {
    this.#isLetting = !this.#isEmpty && !this.#isUsed;
    if (!this.#isLetting) return;
    this.#wasFirst = this.#others.length === 0 || (!this.#wasFirst && this.#first.length > 0);
    (this.#wasFirst ? this.#first : this.#others).shift()?.();
    this.#turns.afterwards(() => this.#letOn());
  }
}
