import { expect, test } from "vitest";
import { aRow } from "../../testing/fake-daemon.ts";
import { aSnapshot } from "../../testing/snapshot.ts";
import { type Arrangement, arrange, SORTS } from "./rows.ts";

const ROWS = [
  aRow({ pid: 1, name: "b", tokens_used: 10, cost_usd: 0.1, elapsed_ms: 900, intent: "review" }),
  aRow({ pid: 2, ppid: 1, name: "a", tokens_used: 30, elapsed_ms: 500, activity: "paused" }),
  aRow({ pid: 3, ppid: 1, name: "c", tokens_used: 20, cost_usd: 2, elapsed_ms: 700, intent: "Review it" }),
  aRow({ pid: 4, kind: "service", name: "mcp", tokens_used: 0 }),
  aRow({ pid: 5, ppid: 1, fork: "memory", tokens_used: 0 }),
];
const snapshot = aSnapshot(ROWS, new Map([[3, 60]]));
const HOW: Arrangement = { sort: "pid", isTree: false, showsAll: false, filter: "" };
const pids = (how: Partial<Arrangement>) => arrange(snapshot, { ...HOW, ...how }).map(({ row }) => row.pid);

test("arrange() sorts by each key, equal ones by pid", () => {
  expect(Object.fromEntries(SORTS.map((sort) => [sort, pids({ sort })]))).toEqual({
    rate: [3, 1, 2],
    tokens: [2, 3, 1],
    cost: [3, 1, 2],
    age: [1, 3, 2],
    pid: [1, 2, 3],
    name: [2, 1, 3],
    children: [1, 2, 3],
  });
});

test("arrange() leaves services and internal forks out unless all are asked for, and finds a text in any case", () => {
  expect(pids({ showsAll: true })).toEqual([1, 2, 3, 4, 5]);
  expect(pids({ filter: "REVIEW" })).toEqual([1, 3]);
  expect(pids({ filter: "paused" })).toEqual([2]);
  expect(pids({ filter: "nothing like it" })).toEqual([]);
});

test("arrange() as a tree keeps the sorting among siblings", () => {
  const rows = arrange(snapshot, { ...HOW, sort: "tokens", isTree: true });
  expect(rows.map(({ prefix, row }) => `${prefix}${row.pid}`)).toEqual(["1", "├─ 2", "└─ 3"]);
  expect(rows[0]?.children).toBe(2);
});
