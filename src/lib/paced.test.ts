import { expect, test } from "vitest";
import { paced } from "./paced.ts";

function bench(most: number) {
  const rounds: (() => void)[] = [];
  const begun: number[] = [];
  const pace = paced(most, (round) => rounds.push(round), 3);
  let count = 0;
  const ask = (times: number): void => {
    for (let n = 0; n < times; n++) {
      const own = ++count;
      void pace.next().then(() => begun.push(own));
    }
  };
  /** What had begun by the end of the next round; undefined: no round was asked for. */
  const round = async (): Promise<readonly number[] | undefined> => {
    const next = rounds.shift();
    next?.();
    await Promise.resolve();
    return next === undefined ? undefined : begun.splice(0);
  };
  return { ask, round, begun, hold: pace.hold };
}

test("paced() lets so many begin at once, the others in later rounds, in order", async () => {
  const { ask, round, begun } = bench(2);
  ask(5);
  await Promise.resolve();
  expect(begun.splice(0)).toEqual([1, 2]);
  expect(await round()).toEqual([3, 4]);
  // whoever comes later waits behind those that came before
  ask(1);
  expect(await round()).toEqual([5, 6]);
  expect([await round(), await round()]).toEqual([[], undefined]);
});

test("paced() starts afresh when a round was quiet, and waits for none while there is room", async () => {
  const { ask, round, begun } = bench(2);
  ask(1);
  ask(1);
  await Promise.resolve();
  expect(begun.splice(0)).toEqual([1, 2]);
  expect([await round(), await round()]).toEqual([[], undefined]);
  ask(3);
  await Promise.resolve();
  expect(begun.splice(0)).toEqual([3, 4]);
  expect([await round(), await round(), await round()]).toEqual([[5], [], undefined]);
});

test("paced() lets nobody begin while somebody holds, and then those who waited, in order", async () => {
  const { ask, round, hold } = bench(2);
  const [first, second] = [hold(), hold()];
  ask(2);
  expect(await round()).toBeUndefined();
  first();
  first();
  expect(await round()).toBeUndefined();
  second();
  ask(1);
  expect([await round(), await round(), await round(), await round()]).toEqual([[1, 2], [3], [], undefined]);
});

test("paced() holds nobody whom a round lets begin already, and as many as are too many no longer", async () => {
  const { ask, round, begun, hold } = bench(2);
  ask(4);
  await Promise.resolve();
  expect(begun.splice(0)).toEqual([1, 2]);
  const release = hold();
  expect([await round(), await round()]).toEqual([[], undefined]);
  ask(1);
  expect(await round()).toEqual([3, 4]);
  expect([await round(), await round()]).toEqual([[], undefined]);
  release();
  expect(await round()).toEqual([5]);
});
