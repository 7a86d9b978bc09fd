import { expect, test } from "vitest";
import { timeSlice } from "./time-slice.ts";

function bench() {
  const rounds: (() => void)[] = [];
  const later: (() => void)[] = [];
  const went: string[] = [];
  let now = 0;
  const slice = timeSlice(10, {
    mono: () => now,
    nextRound: (begin) => rounds.push(begin),
    afterwards: (act) => later.push(act),
  });
  const acted = (name: string, ms: number) => (): void => {
    went.push(name);
    now += ms;
  };
  /** Asks, and works for so long once it may go on. */
  const work = (name: string, ms: number): void => {
    const act = acted(name, ms);
    const turn = slice.next();
    if (turn === undefined) act();
    else void turn.then(act);
  };
  const turn = (name: string, ms: number): void => void slice.turn().then(acted(name, ms));
  /** What went on in the next round, or in the rest of this one; undefined: no round was asked for. */
  const round = async (isNext = true): Promise<readonly string[] | undefined> => {
    const next = isNext ? rounds.shift() : undefined;
    next?.();
    await Promise.resolve();
    for (let act = later.shift(); act !== undefined; act = later.shift()) {
      act();
      await Promise.resolve();
    }
    return next === undefined && isNext ? undefined : went.splice(0);
  };
  return { work, turn, round, went };
}

test("timeSlice() lets all go on until its time is used up, and the others in later rounds, in order", async () => {
  const { work, round, went } = bench();
  work("a", 4);
  work("b", 8);
  work("c", 6);
  work("d", 5);
  work("e", 1);
  expect(went.splice(0)).toEqual(["a", "b"]);
  expect(await round()).toEqual(["c", "d"]);
  // what comes later waits behind those that came before
  work("f", 1);
  expect(await round()).toEqual(["e", "f"]);
  expect([await round(), await round()]).toEqual([[], undefined]);
});

test("timeSlice() has its whole time again in a round that follows a quiet one", async () => {
  const { work, round, went } = bench();
  work("a", 20);
  expect(went.splice(0)).toEqual(["a"]);
  expect(await round()).toEqual([]);
  work("b", 9);
  work("c", 9);
  expect(went.splice(0)).toEqual(["b", "c"]);
  expect([await round(), await round()]).toEqual([[], undefined]);
});

test("turn() resolves for one after the other, though all of them could go on at once", async () => {
  const { turn, round, went } = bench();
  for (const name of ["a", "b", "c", "d"]) turn(name, 4);
  expect(went).toEqual([]);
  await Promise.resolve();
  expect(went.splice(0)).toEqual(["a"]);
  // the round that is under way goes on with what is left of its time
  expect(await round(false)).toEqual(["b", "c"]);
  expect(await round()).toEqual(["d"]);
  expect([await round(), await round()]).toEqual([[], undefined]);
});

test("timeSlice() counts on once all that a caller can do has been done", async () => {
  const slice = timeSlice(10);
  const order: string[] = [];
  const until = performance.now() + 12;
  expect(slice.next()).toBeUndefined();
  while (performance.now() < until);
  const go = async (name: string): Promise<void> => {
    await slice.next();
    for (let n = 0; n < 3; n++) {
      order.push(`${name}${n}`);
      await Promise.resolve();
    }
  };
  await Promise.all([go("a"), go("b")]);
  expect(order).toEqual(["a0", "a1", "a2", "b0", "b1", "b2"]);
});
