import { expect, test } from "vitest";
import { LateMap, LateSet } from "./late.ts";

test("LateMap and LateSet are like a bare map and set, also before their first entry", () => {
  const [late, bare] = [new LateMap<string, number>(), new Map<string, number>()];
  const [lateSet, bareSet] = [new LateSet<string>(), new Set<string>()];
  const same = (): void => {
    expect([...late]).toEqual([...bare]);
    expect([[...late.keys()], [...late.values()], late.size]).toEqual([
      [...bare.keys()],
      [...bare.values()],
      bare.size,
    ]);
    expect([late.get("a"), late.has("a"), lateSet.has("a")]).toEqual([
      bare.get("a"),
      bare.has("a"),
      bareSet.has("a"),
    ]);
    expect([[...lateSet], lateSet.size]).toEqual([[...bareSet], bareSet.size]);
  };
  same();
  expect([late.delete("a"), lateSet.delete("a")]).toEqual([false, false]);
  late.clear();
  lateSet.clear();
  for (const [at, key] of ["b", "a", "b"].entries()) {
    late.set(key, at);
    bare.set(key, at);
    lateSet.add(key);
    bareSet.add(key);
    same();
  }
  expect([late.delete("b"), lateSet.delete("b")]).toEqual([bare.delete("b"), bareSet.delete("b")]);
  same();
  late.clear();
  bare.clear();
  lateSet.clear();
  bareSet.clear();
  same();
});

test("LateSet shows what is added while somebody goes through it", () => {
  const set = new LateSet<number>();
  set.add(1);
  const seen: number[] = [];
  for (const each of set) {
    seen.push(each);
    if (each < 3) set.add(each + 1);
    set.delete(each);
  }
  expect([seen, set.size]).toEqual([[1, 2, 3], 0]);
});
