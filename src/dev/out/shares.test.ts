import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { tempFolder } from "../testing.ts";
import { Shares } from "./shares.ts";
import { DiskSpools } from "./spool.ts";

const LIMITS = { keptPrograms: 3, keptProgramsInAll: 4, keptBytes: 100 };

describe("Shares", () => {
  it("over() is the oldest of the owner with too many programs, then of whoever has the most", () => {
    const shares = new Shares();
    const put = (name: string, owner: string, bytes = 1) => shares.add(name, { owner, bytes });
    put("q.out", "7");
    for (const name of ["a.out", "a.err", "b.out", "c.out"]) put(name, "0");
    expect(shares.over(LIMITS)).toBeUndefined();
    put("d.out", "0");
    expect(shares.over(LIMITS)).toBe("a.out");
    for (const name of ["a.out", "a.err"]) shares.remove(name, { owner: "0", bytes: 1 });
    expect(shares.over(LIMITS)).toBeUndefined();
    put("r.out", "8");
    expect(shares.over(LIMITS)).toBe("b.out");
    shares.remove("b.out", { owner: "0", bytes: 1 });
    put("s.out", "8", 99);
    expect(shares.over(LIMITS)).toBe("c.out");
    shares.remove("c.out", { owner: "0", bytes: 1 });
    expect(shares.over(LIMITS)).toBe("r.out");
    shares.remove("none", { owner: "0", bytes: 1 });
    expect(shares.over({ ...LIMITS, keptBytes: 102 })).toBeUndefined();
  });
});

it("what one owner's programs leave pushes out nothing of another's, in the next daemon too", () => {
  const dir = join(tempFolder(), "spools");
  const limits = { ...LIMITS, segmentBytes: 8, keptMs: 1_000_000, aWhile: async () => {} };
  let now = 1_700_000_000_000;
  const open = () => new DiskSpools(dir, () => now, limits);
  const leave = (store: DiskSpools, name: string, owner: string) => {
    const spool = store.open(name, "drop", { owner });
    spool.write(Buffer.from(name));
    spool.end();
    now += 1_000;
  };
  const first = open();
  leave(first, "mine.out", "7");
  for (let n = 0; n < 9; n++) leave(first, `p${n}.out`, "0");
  const kept = ["mine.out@7.0", "p6.out@0.0", "p7.out@0.0", "p8.out@0.0"];
  expect(readdirSync(dir).sort()).toEqual(kept);
  const next = open();
  leave(next, "p9.out", "0");
  const left = readdirSync(dir);
  expect(left).toHaveLength(4);
  expect(left).toEqual(expect.arrayContaining(["mine.out@7.0", "p9.out@0.0"]));
  expect(next.past("mine.out")?.bytes).toBe(8);
  expect(() => next.open("x", "drop", { owner: "../a" })).toThrow("owner");
});
