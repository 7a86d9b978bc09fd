/**
 * The time that programs have in one round of the event loop, all together. What asks once it is used up goes on in a later round, in
 * order, before which everything else that is ready has its turn. Its queue is as long as its callers are many: they bound it.
 */
export interface TimeSlice {
  /** undefined: the caller goes on at once. Otherwise resolves when it may go on. */
  next(): Promise<void> | undefined;
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

export function timeSlice(ms: number, { mono, nextRound, afterwards }: Turns = OWN): TimeSlice {
  const waiting: (() => void)[] = [];
  /** undefined: nobody has asked in this round. */
  let began: number | undefined;
  const isUsed = (): boolean => began !== undefined && mono() - began >= ms;
  const letOn = (): void => {
    if (isUsed()) return;
    waiting.shift()?.();
    if (waiting.length > 0) afterwards(letOn);
  };
  const round = (): void => {
    began = undefined;
    if (waiting.length === 0) return;
    begin();
    letOn();
  };
  const begin = (): void => {
    began = mono();
    nextRound(round);
  };
  return {
    next() {
      if (began === undefined) begin();
      if (waiting.length === 0 && !isUsed()) return undefined;
      return new Promise((resolve) => {
        waiting.push(resolve);
      });
    },
  };
}
