import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { looked, Remembered } from "./looks.ts";

/** A world of numbers by name; a name without one cannot be looked at. */
function world(numbers: Record<string, number>) {
  const seen: string[] = [];
  const look = looked((name) => {
    seen.push(name);
    const found = numbers[name];
    if (found === undefined) throw new Error(`no ${name}`);
    return { found };
  });
  return { numbers, seen, look };
}

describe("Remembered.of()", () => {
  test("is what making it now would give, whatever changed between", () => {
    const name = fc.constantFrom("a", "b", "c");
    const step = fc.oneof(
      fc.record({ set: name, to: fc.nat(2) }),
      fc.record({ ask: fc.array(name, { maxLength: 4 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const { numbers, look } = world({ a: 0, b: 0, c: 0 });
        // how far it looks depends on what it finds
        const sum = (names: readonly string[]): number => {
          let total = 0;
          for (const each of names) {
            const { found } = look(each);
            if (found === 2) break;
            total += found;
          }
          return total;
        };
        const sums = new Remembered(sum, 2);
        for (const each of steps) {
          if ("set" in each) numbers[each.set] = each.to;
          else expect(sums.of(each.ask)).toBe(sum(each.ask));
        }
      }),
    );
  });

  test("looks once at each path, and makes again only what has changed", () => {
    const { numbers, seen, look } = world({ a: 1, b: 2 });
    let made = 0;
    const sums = new Remembered(({ names }: { names: string[] }) => {
      made++;
      return names.reduce((sum, each) => sum + look(each).found, 0);
    }, 2);
    expect(sums.of({ names: ["a", "b", "a"] })).toBe(4);
    expect(seen).toEqual(["a", "b"]);
    expect([sums.of({ names: ["a", "b", "a"] }), made]).toEqual([4, 1]);
    numbers.b = 3;
    expect([sums.of({ names: ["a", "b", "a"] }), made]).toEqual([5, 2]);
    expect([sums.of({ names: ["b"] }), sums.of({ names: ["a", "b", "a"] }), made]).toEqual([3, 5, 3]);
    // the bound: the one asked for longest ago is gone
    expect([sums.of({ names: ["a"] }), sums.of({ names: ["b"] }), made]).toEqual([1, 3, 5]);
  });

  test("does not keep what a failed look led to, nor a failure", () => {
    const { numbers, look } = world({});
    const kinds = new Remembered((name: string) => {
      try {
        return look(name).found;
      } catch {
        return "absent";
      }
    }, 1);
    const strict = new Remembered((name: string) => look(name).found, 1);
    expect(kinds.of("a")).toBe("absent");
    expect(() => strict.of("a")).toThrow("no a");
    numbers.a = 7;
    expect([kinds.of("a"), strict.of("a")]).toEqual([7, 7]);
    delete numbers.a;
    expect(kinds.of("a")).toBe("absent");
    expect(() => strict.of("a")).toThrow("no a");
  });

  test("a result within another is looked at again for both", () => {
    const { numbers, look } = world({ a: 1 });
    const inner = new Remembered((name: string) => look(name).found, 1);
    const outer = new Remembered((name: string) => inner.of(name) * 10, 1);
    // the inner one is known by the time the outer one is made
    expect([inner.of("a"), outer.of("a")]).toEqual([1, 10]);
    numbers.a = 2;
    expect(outer.of("a")).toBe(20);
  });
});

test("Remembered.last() is what was kept, without a look, until it is asked for again", () => {
  const { numbers, seen, look } = world({ a: 1 });
  const numberOf = new Remembered((name: string) => look(name).found, 2);
  expect([numberOf.last("a"), seen.splice(0)]).toEqual([1, ["a"]]);
  numbers.a = 2;
  expect([numberOf.last("a"), seen.splice(0)]).toEqual([1, []]);
  expect([numberOf.of("a"), numberOf.last("a")]).toEqual([2, 2]);
});
