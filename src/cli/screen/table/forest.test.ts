import * as fc from "fast-check";
import { expect, test } from "vitest";
import { aRow } from "../../testing/fake-daemon.ts";
import { ASCII, forest } from "./forest.ts";
import { treeTable } from "./tree-table.ts";

const row = (pid: number, ppid: number, tokens_used = 1) => aRow({ pid, ppid, tokens_used });
const drawn = (...args: Parameters<typeof forest>) =>
  forest(...args).map((branch) => `${branch.prefix}${branch.row.pid}`);

const family = [row(1, 0, 100), row(2, 1, 20), row(3, 1, 3), row(4, 2, 4), row(5, 0), row(6, 9)];

test("forest() draws each process above those it started", () => {
  expect(drawn(family)).toEqual(["1", "├─ 2", "│  └─ 4", "└─ 3", "5", "6"]);
  expect(drawn(family, ASCII)).toEqual(["1", "|- 2", "|  `- 4", "`- 3", "5", "6"]);
});

test("forest() sums tokens of all below, and counts those directly below", () => {
  const [first, second] = forest(family);
  expect([first?.subtreeTokens, first?.children]).toEqual([127, 2]);
  expect([second?.subtreeTokens, second?.children, second?.depth]).toEqual([24, 1, 1]);
});

test("forest() counts what has ended below a process, as far as that is known", () => {
  const [lead, child] = forest([
    aRow({ pid: 1, tokens_used: 10, cost_usd: 0.1, subtree: { tokens_used: 100, cost_usd: 0.5 } }),
    aRow({ pid: 2, ppid: 1, tokens_used: 5, cost_usd: 0.2 }),
  ]);
  expect([lead?.subtreeTokens, lead?.subtreeUsd, child?.subtreeTokens]).toEqual([100, 0.5, 5]);
});

test("a tree with calls of unknown price says so for all above them", () => {
  const branches = forest([
    aRow({ pid: 1, cost_usd: 0.1 }),
    aRow({ pid: 2, ppid: 1, unpriced_calls: 2 }),
    aRow({ pid: 3, ppid: 1 }),
  ]);
  expect(branches.map(({ subtreeUnpriced }) => subtreeUnpriced)).toEqual([2, 2, 0]);
  expect(treeTable(branches).match(/\$0\.1\d*\+\?/g)).toHaveLength(1);
});

test("forest() of one root is it and what is below; of none, nothing", () => {
  expect(drawn(family, ASCII, 2)).toEqual(["2", "`- 4"]);
  expect(drawn(family, ASCII, 9)).toEqual([]);
});

test("forest() of a chain deeper than any stack ends, and its indent is bounded", () => {
  const depth = 20_000;
  const chain = Array.from({ length: depth }, (_, at) => row(at + 1, at));
  const branches = forest(chain);
  expect(branches).toHaveLength(depth);
  expect(branches[0]?.subtreeTokens).toBe(depth);
  expect(branches.at(-1)).toMatchObject({ depth: depth - 1 });
  expect(branches.at(-1)?.prefix.length).toBeLessThan(100);
});

test("property: every process once, behind its parent, siblings in the given order, sums as counted by hand", async () => {
  const parents = fc.array(fc.nat(), { maxLength: 30 });
  await fc.assert(
    fc.property(parents, fc.boolean(), (picks, reversed) => {
      // the parent of pid n is one of 0 … n − 1, or one that is not shown
      const rows = picks.map((pick, at) =>
        row(at + 1, pick % (at + 2) === at + 1 ? 999 : pick % (at + 2), pick % 7),
      );
      const given = reversed ? rows.toReversed() : rows;
      const branches = forest(given);
      const place = new Map(branches.map((branch, at) => [branch.row.pid, at]));
      expect(place.size).toBe(rows.length);
      const sum = (pid: number): number =>
        rows
          .filter(({ ppid }) => ppid === pid)
          .reduce((total, child) => total + sum(child.pid), rows[pid - 1]?.tokens_used ?? 0);
      for (const { row, subtreeTokens } of branches) {
        expect(subtreeTokens).toBe(sum(row.pid));
        const parent = place.get(row.ppid);
        if (parent !== undefined) expect(parent).toBeLessThan(place.get(row.pid)!);
      }
      for (const ppid of new Set(rows.map((each) => each.ppid))) {
        const siblings = given.filter((each) => each.ppid === ppid).map(({ pid }) => pid);
        const shown = branches.filter((branch) => branch.row.ppid === ppid).map((branch) => branch.row.pid);
        expect(shown).toEqual(siblings);
      }
    }),
    { numRuns: 1_000 },
  );
});
