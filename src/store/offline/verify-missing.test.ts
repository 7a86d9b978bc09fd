import fc from "fast-check";
import { expect, test } from "vitest";
import { MissingRecords, type Removal } from "./verify-missing.ts";

/** Every lsn from `lsns`, in order, as runs. */
function unexplained(removals: readonly Removal[], lsns: readonly number[]): number | undefined {
  const missing = new MissingRecords(removals);
  for (const lsn of lsns) {
    const found = missing.unexplained(lsn, lsn);
    if (found !== undefined) return found;
  }
  return undefined;
}

test("what removals left is explained, however their records lay between one another", () => {
  const owners = fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 60 });
  fc.assert(
    fc.property(owners, fc.integer({ min: 1, max: 4 }), (of, removedUpTo) => {
      const removals: Removal[] = [];
      for (let owner = 1; owner <= removedUpTo; owner++) {
        const lsns = of.flatMap((each, n) => (each === owner ? [n + 1] : []));
        if (lsns.length > 0) removals.push({ first: lsns[0]!, last: lsns.at(-1)!, records: lsns.length });
      }
      const gone = of.flatMap((each, n) => (each >= 1 && each <= removedUpTo ? [n + 1] : []));
      expect(unexplained(removals, gone)).toBeUndefined();
      // one more than was removed is not
      const kept = of.findIndex((each) => each === 0 || each > removedUpTo) + 1;
      if (kept > 0)
        expect(
          unexplained(
            removals,
            [...gone, kept].sort((a, b) => a - b),
          ),
        ).toBeDefined();
    }),
  );
});

test("a run is explained as its lsns one by one", () => {
  const removal = fc.record({
    first: fc.integer({ min: 1, max: 30 }),
    length: fc.nat(30),
    records: fc.nat(20),
  });
  fc.assert(
    fc.property(
      fc.array(removal, { maxLength: 6 }),
      fc.integer({ min: 1, max: 20 }),
      fc.nat(30),
      (made, from, length) => {
        const removals = made.map(({ first, length: long, records }) => ({
          first,
          last: first + long,
          records,
        }));
        const run = new MissingRecords(removals).unexplained(from, from + length);
        const lsns = Array.from({ length: length + 1 }, (_, n) => from + n);
        expect(run).toBe(unexplained(removals, lsns));
      },
    ),
  );
});

test("nothing explains what lies outside of every removal", () => {
  const missing = new MissingRecords([{ first: 5, last: 7, records: 3 }]);
  expect(missing.unexplained(4, 4)).toBe(4);
  expect(missing.unexplained(5, 8)).toBe(8);
});
