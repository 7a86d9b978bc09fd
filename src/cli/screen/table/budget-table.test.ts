import { expect, test } from "vitest";
import { budgetTable, limitsLine, sumLines, windowLines } from "./budget-table.ts";
import { costTable } from "./cost-table.ts";

const account = (pid: number, ppid: number, more: object = {}) => ({
  pid,
  ppid,
  name: `agent-${pid}`,
  kind: "agent" as const,
  intent: "work",
  running: true,
  limits: {},
  own: { tokens: 100, usd: 0.25 },
  spent: { tokens: 300, usd: 0.75, steps: 3 },
  reserved: { tokens: 0, usd: 0, steps: 0 },
  wall_ms: 0,
  children: 0,
  concurrent: 0,
  left: { tokens: null, usd: null },
  ...more,
});

test("budgetTable() shows children below their parents, limits, and what is left", () => {
  const limited = { limits: { usd: 2, children: 3 }, left: { tokens: null, usd: 1.25 }, children: 1 };
  const reserved = { reserved: { tokens: 50, usd: 0.004, steps: 1 } };
  expect(budgetTable([account(3, 0, limited), account(4, 0), account(5, 3, reserved)]).split("\n")).toEqual([
    "PID   NAME        TOKENS    COST   TREE TOKENS   TREE COST     RESERVED   LIMITS              LEFT",
    "───   ─────────   ──────   ─────   ───────────   ─────────   ──────────   ─────────────────   ─────────────────",
    "  3   agent-3        100   $0.25           300       $0.75            -   $2.00, 3 children   $1.25, 2 children",
    "  5     agent-5      100   $0.25           300       $0.75   50 $0.0040   -                   -",
    "  4   agent-4        100   $0.25           300       $0.75            -   -                   -",
  ]);
  expect(budgetTable([])).toBe("No process has an account.");
});

test("sumLines() adds up what each has used itself", () => {
  expect(sumLines([account(3, 0), account(5, 3)])).toEqual(["", "2 processes: 200 tokens, $0.50"]);
  expect(sumLines([account(3, 0)])).toEqual([]);
});

test("what has no known price is not shown as free", () => {
  const unpriced = {
    own: { tokens: 100, usd: 0, unpriced_calls: 2 },
    spent: { tokens: 300, usd: 0, steps: 3 },
  };
  const [, , parent, child] = budgetTable([
    account(3, 0, { own: { tokens: 0, usd: 0 }, spent: unpriced.spent }),
    account(5, 3, unpriced),
  ]).split("\n");
  expect([parent, child]).toEqual([
    expect.stringMatching(/^ +3 +agent-3 +0 +- +300 +\? /),
    expect.stringMatching(/ 100 +\? +300 +\? /),
  ]);
  expect(sumLines([account(3, 0, unpriced), account(5, 3, unpriced)])[1]).toBe(
    "2 processes: 200 tokens, 4 calls without a known price",
  );
  expect(sumLines([account(3, 0), account(5, 3, unpriced)])[1]).toContain("$0.25 and 2 calls without");
});

test("windowLines() and limitsLine() are a line each", () => {
  const windows = [{ unit: "usd" as const, limit: 20, spent: 1.5, per_ms: 3_600_000 }];
  expect(windowLines(windows)).toEqual(["in 3600.0s: $1.50 of $20.00 spent by all processes"]);
  expect(limitsLine({ pid: 3, limits: { tokens: 5 } })).toBe("[kernel] PID 3: budget 5 tokens");
  expect(limitsLine({ pid: 3, limits: {} })).toBe("[kernel] PID 3: budget without limits of its own");
});

test("costTable() adds up, and shows what is not known as such", () => {
  const lines = [
    {
      key: "opus",
      calls: 2,
      tokens: 30,
      input: 4,
      written: 1,
      cached: 20,
      output: 6,
      thinking: 2,
      usd: 1.5,
      unpriced: 0,
    },
    {
      key: "local",
      calls: 1,
      tokens: 5,
      input: 3,
      written: 0,
      cached: 0,
      output: 2,
      thinking: 0,
      usd: 0,
      unpriced: 1,
    },
  ];
  expect(costTable({ by: "model", lines, cut: false }).split("\n")).toEqual([
    "MODEL   CALLS   TOKENS   INPUT   CACHED   OUTPUT   THINKING        COST",
    "─────   ─────   ──────   ─────   ──────   ──────   ────────   ─────────",
    "opus        2       30       4       20        6          2       $1.50",
    "local       1        5       3        0        2          0           ?",
    "all         3       35       7       20        8          2   $1.50 + ?",
    "? : calls whose price is not known; models.<id>.price in settings.json sets one",
  ]);
  // subtrees hold one another: they have no sum
  expect(costTable({ by: "subtree", lines, cut: false })).not.toContain("all ");
  expect(costTable({ by: "call", lines, cut: true })).toContain("only the newest 1,000 calls are shown");
  expect(costTable({ by: "pid", lines: [], cut: false })).toBe("Nothing was spent.");
});
