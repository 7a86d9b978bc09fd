import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { codeOf } from "../../abi/errors.ts";
import { asPgid, asPid, type Pgid, PID_KERNEL, type Pid } from "../../abi/ids.ts";
import { EXIT } from "../../abi/process.ts";
import { LIMITS } from "../limits.ts";
import { Process } from "../process/process.ts";
import type { ProcessSeed } from "../process/process-seed.ts";
import { ProcessTable } from "../process/table.ts";
import { testKernel } from "../testing/test-kernel.ts";
import { Groups } from "./groups.ts";

let seed: ProcessSeed;
beforeAll(() => {
  seed = testKernel().kernel.root.seed;
});

/** A table with groups, and no kernel around it. */
class Town {
  readonly groups: Groups = new Groups((a, b) => this.table.isKin(a, b));
  readonly table = new ProcessTable((a, b) => this.groups.shareOne(a, b));
  readonly procs: Process[] = [];

  start(ppid: Pid = PID_KERNEL): Process {
    const proc = new Process({ ...seed, pid: asPid(this.procs.length + 1) }, ppid);
    this.procs.push(proc);
    this.table.add(proc);
    proc.start(0);
    return proc;
  }

  /** What reaping does to it here. */
  reap(proc: Process): void {
    this.table.orphanChildren(proc.pid);
    this.groups.leaveAll(proc);
    this.table.remove(proc.pid);
  }
}

const fails = (act: () => unknown): string => {
  try {
    act();
    return "ok";
  } catch (error) {
    return codeOf(error);
  }
};

describe("join()", () => {
  test.each([
    ["a", "ok"],
    ["A-b_c.9", "ok"],
    ["7", "ok"],
    [`a${"b".repeat(63)}`, "ok"],
    [`a${"b".repeat(64)}`, "INVALID"],
    ["", "INVALID"],
    ["-a", "INVALID"],
    [".a", "INVALID"],
    ["_a", "INVALID"],
    ["a b", "INVALID"],
    ["a/b", "INVALID"],
    ["é", "INVALID"],
    ["a\n", "INVALID"],
    [0, "ok"],
    [1, "NOT_FOUND"],
    [-1, "INVALID"],
    [1.5, "INVALID"],
    [Number.NaN, "INVALID"],
    [2 ** 53, "INVALID"],
  ] as const)("%j: %s", (ref, expected) => {
    const town = new Town();
    const proc = town.start();
    expect(fails(() => town.groups.join(proc, ref as string | Pgid, PID_KERNEL))).toBe(expected);
  });

  test("a name is no number: they are different groups", () => {
    const town = new Town();
    const proc = town.start();
    expect(town.groups.join(proc, "2", PID_KERNEL)).toBe(1);
    expect(town.groups.join(proc, asPgid(0), PID_KERNEL)).toBe(2);
    expect(town.groups.find("2").id).toBe(1);
    expect(town.groups.find(asPgid(2)).name).toBe("");
  });

  test("17 groups of one process are UNAVAILABLE; leaving one makes room", () => {
    const town = new Town();
    const proc = town.start();
    for (let n = 0; n < LIMITS.groupsPerProcess; n++) town.groups.join(proc, asPgid(0), proc.pid);
    expect(fails(() => town.groups.join(proc, asPgid(0), proc.pid))).toBe("UNAVAILABLE");
    expect(fails(() => town.groups.join(proc, "late", PID_KERNEL))).toBe("UNAVAILABLE");
    expect(town.groups.list()).toHaveLength(16);
    expect(town.groups.join(proc, asPgid(3), proc.pid)).toBe(3);
    town.groups.leave(proc, asPgid(3));
    expect(town.groups.join(proc, "late", proc.pid)).toBe(17);
  });

  test("the 1,025th member is UNAVAILABLE, and 1,024 join and are seen quickly", () => {
    const town = new Town();
    for (let n = 0; n < LIMITS.groupMembers; n++) town.groups.join(town.start(), "all", PID_KERNEL);
    const late = town.start();
    expect(fails(() => town.groups.join(late, "all", PID_KERNEL))).toBe("UNAVAILABLE");
    expect(town.groups.of(late).size).toBe(0);
    town.reap(town.procs[0] as Process);
    expect(fails(() => town.groups.join(late, "all", PID_KERNEL))).toBe("ok");
    expect(town.groups.find("all").pids).toHaveLength(1_024);
    expect(town.groups.find("all").pids[0]).toBe(2);
  });

  test("find() is a copy", () => {
    const town = new Town();
    const proc = town.start();
    town.groups.join(proc, "a", PID_KERNEL);
    const before = town.groups.find("a");
    town.groups.leave(proc, "a");
    expect(before).toEqual({ id: 1, name: "a", maker: 0, pids: [1] });
  });
});

const NAMES = ["a", "b", "c"] as const;
const ref = fc.oneof(fc.constantFrom(...NAMES), fc.constant(0), fc.integer({ min: 1, max: 6 }));
const move = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("start" as const), parent: fc.nat(7) }) },
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constant("join" as const), who: fc.nat(7), by: fc.nat(8), ref }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("leave" as const), who: fc.nat(7), ref }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("end" as const), who: fc.nat(7) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("reap" as const), who: fc.nat(7) }) },
);
type Move = typeof move extends fc.Arbitrary<infer M> ? M : never;

interface ModelGroup {
  readonly id: number;
  readonly name: string;
  readonly maker: number;
  readonly members: Set<number>;
}

/** Membership as the chapter tells it, with lists and no cleverness. */
class Model {
  readonly parents = new Map<number, number>();
  readonly ended = new Set<number>();
  groups: ModelGroup[] = [];
  made = 0;

  ancestors(pid: number): number[] {
    const parent = this.parents.get(pid) ?? 0;
    return parent === 0 ? [] : [parent, ...this.ancestors(parent)];
  }

  isKin(a: number, b: number): boolean {
    return a === b || this.ancestors(a).includes(b) || this.ancestors(b).includes(a);
  }

  sees(a: number, b: number): boolean {
    return this.isKin(a, b) || this.groups.some(({ members }) => members.has(a) && members.has(b));
  }

  find(wanted: string | number): ModelGroup | undefined {
    return this.groups.find(({ id, name }) => (typeof wanted === "string" ? name === wanted : id === wanted));
  }

  join(pid: number, wanted: string | number, by: number): string {
    if (this.ended.has(pid)) return "CONFLICT";
    const found = this.find(wanted);
    if (found === undefined && typeof wanted === "number" && wanted > 0) return "NOT_FOUND";
    if (found?.members.has(pid)) return `${found.id}`;
    if (found !== undefined && by !== 0 && by !== found.maker)
      if (![...found.members].some((member) => this.isKin(by, member))) return "PERMISSION";
    if (this.groups.filter(({ members }) => members.has(pid)).length >= 16) return "UNAVAILABLE";
    if (found !== undefined) {
      found.members.add(pid);
      return `${found.id}`;
    }
    const name = typeof wanted === "string" ? wanted : "";
    this.groups.push({ id: ++this.made, name, maker: by, members: new Set([pid]) });
    return `${this.made}`;
  }

  leave(pid: number, wanted: string | number): string {
    const found = this.find(wanted);
    if (found?.members.has(pid) !== true) return "NOT_FOUND";
    found.members.delete(pid);
    this.sweep();
    return `${found.id}`;
  }

  reap(pid: number): void {
    for (const { members } of this.groups) members.delete(pid);
    for (const [child, parent] of this.parents) if (parent === pid) this.parents.set(child, 0);
    this.parents.delete(pid);
    this.sweep();
  }

  sweep(): void {
    this.groups = this.groups.filter(({ members }) => members.size > 0);
  }
}

function play(moves: readonly Move[]): void {
  const [town, model] = [new Town(), new Model()];
  const there = (n: number): Process | undefined => {
    const proc = town.procs[n % Math.max(1, town.procs.length)];
    return proc !== undefined && model.parents.has(proc.pid) ? proc : undefined;
  };
  for (const step of moves) {
    if (step.kind === "start") {
      if (town.procs.length >= 8) continue;
      const parent = step.parent % 2 === 0 ? undefined : there(step.parent);
      const made = town.start(parent?.pid);
      model.parents.set(made.pid, made.ppid);
      continue;
    }
    const proc = there(step.who);
    if (proc === undefined) continue;
    const { pid } = proc;
    if (step.kind === "join") {
      // only who controls a process brings it anywhere: the kernel, itself, an ancestor
      const by = [0, pid, ...model.ancestors(pid)][step.by] ?? pid;
      const seenBefore = visible(town, model);
      const isMaker = model.find(step.ref)?.maker === by;
      const found = outcome(() => town.groups.join(proc, step.ref as string | Pgid, asPid(by)));
      expect(found).toBe(model.join(pid, step.ref, by));
      if (by !== 0 && !isMaker) expectNothingNew(town, model, seenBefore, pid);
    } else if (step.kind === "leave") {
      expect(outcome(() => town.groups.leave(proc, step.ref as string | Pgid))).toBe(
        step.ref === 0 ? "NOT_FOUND" : model.leave(pid, step.ref),
      );
    } else if (step.kind === "end") {
      if (proc.isLive) {
        void proc.life.finish(async () => {});
        proc.life.exited(EXIT.completed, 0);
      }
      model.ended.add(pid);
    } else {
      if (proc.isLive) continue;
      town.reap(proc);
      model.reap(pid);
    }
  }
  compare(town, model);
}

function outcome(act: () => Pgid): string {
  try {
    return `${act()}`;
  } catch (error) {
    return codeOf(error);
  }
}

/** `a>b`: a sees b. */
function visible(town: Town, model: Model): Set<string> {
  const pids = [...model.parents.keys()];
  const pairs = pids.flatMap((a) => pids.map((b) => [a, b] as const));
  return new Set(pairs.filter(([a, b]) => town.table.sees(asPid(a), asPid(b))).map(([a, b]) => `${a}>${b}`));
}

/** When neither the kernel nor the maker brings a process in, what it comes to see was seen by a relative of its own. */
function expectNothingNew(town: Town, model: Model, before: Set<string>, newcomer: number): void {
  for (const pair of visible(town, model)) {
    if (before.has(pair)) continue;
    const [viewer, seen] = pair.split(">").map(Number) as [number, number];
    // the members come to see the newcomer: whoever controls it wished so
    if (seen === newcomer) continue;
    expect(viewer).toBe(newcomer);
    const kin = [...model.parents.keys()].filter((pid) => model.isKin(pid, viewer));
    const family = kin.flatMap((pid) => [...model.parents.keys()].filter((other) => model.isKin(other, pid)));
    expect(family.some((pid) => before.has(`${pid}>${seen}`))).toBe(true);
  }
}

function compare(town: Town, model: Model): void {
  const expected = model.groups.map(({ id, name, members }) => ({
    id,
    name,
    pids: [...members].sort((a, b) => a - b),
  }));
  expect(town.groups.list()).toEqual(expected);
  for (const { id, maker } of model.groups) expect(town.groups.find(asPgid(id)).maker).toBe(maker);
  for (const pid of model.parents.keys()) {
    const groups = expected.filter(({ pids }) => pids.includes(pid)).map(({ id }) => id);
    expect([...town.groups.of({ pid: asPid(pid) })].sort((a, b) => a - b)).toEqual(groups);
    for (const other of model.parents.keys())
      expect(town.table.sees(asPid(pid), asPid(other)), `${pid} sees ${other}`).toBe(model.sees(pid, other));
  }
}

describe("any order of joins, leaves, ends and reaps", () => {
  test("keeps to the model: members, makers, names, sight", () => {
    fc.assert(fc.property(fc.array(move, { maxLength: 40, size: "max" }), play), { numRuns: 10_000 });
  });
});
