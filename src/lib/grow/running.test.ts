import fc from "fast-check";
import { expect, test } from "vitest";
import { Running } from "./running.ts";

test("Running.of() is the sum of the whole list, whatever lists came before", () => {
  const parts = Array.from({ length: 6 }, (_, n) => ({ n }));
  const list = fc.array(fc.constantFrom(...parts), { maxLength: 24 });
  fc.assert(
    fc.property(fc.array(list, { maxLength: 12 }), (lists) => {
      const running = new Running<{ n: number }, string>("", (text, { n }) => `${text}${n}`);
      for (const each of lists) expect(running.of(each)).toBe(each.map(({ n }) => n).join(""));
    }),
  );
});

test("Running.of() adds only what is new in a list that continues another", () => {
  const parts = Array.from({ length: 100 }, (_, n) => ({ n }));
  let added = 0;
  const running = new Running<{ n: number }, number>(0, (sum, { n }) => {
    added++;
    return sum + n;
  });
  for (let length = 1; length <= 100; length += 3) {
    const sum = running.of(parts.slice(0, length));
    expect(sum).toBe((length * (length - 1)) / 2);
    expect(added).toBe(length);
  }
});

test("Running keeps the last ends of a list: a much shorter one is added again", () => {
  const parts = Array.from({ length: 40 }, (_, n) => ({ n }));
  let added = 0;
  const running = new Running<{ n: number }, number>(0, (sum, { n }) => {
    added++;
    return sum + n;
  });
  const addedBy = (length: number): number => {
    const before = added;
    running.of(parts.slice(0, length));
    return added - before;
  };
  expect([40, 35, 40, 20, 40, 21].map(addedBy)).toEqual([40, 0, 0, 20, 0, 1]);
});
