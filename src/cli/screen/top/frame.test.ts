import { expect, test } from "vitest";
import type { WireRow } from "../../../abi/methods/process.ts";
import { aRow } from "../../testing/fake-daemon.ts";
import { aSnapshot } from "../../testing/snapshot.ts";
import { widthOf } from "../text/width.ts";
import { topFrame } from "./frame.ts";
import { arrange } from "./rows.ts";
import { keepInSight, topView } from "./view.ts";

const ROWS = [
  aRow({ pid: 1, name: "code-analyst", tokens_used: 456, intent: "分析代码\nand more" }),
  aRow({ pid: 2, name: "", model: "", activity: "paused", elapsed_ms: 72_400, intent: "x\x1b[2J" }),
  aRow({ pid: 3, name: "a-name-of-some-length", state: "zombie", model: "claude-sonnet-4-5-20250929" }),
];
const VIEW = { ...topView({ sort: "rate", showsAll: false }), selected: 2 };

function frame(rows: readonly WireRow[], columns: number, lines: number, view = VIEW): string[] {
  const snapshot = aSnapshot(rows, new Map([[1, 8550]]));
  return topFrame({ view, snapshot, rows: arrange(snapshot, view) }, { columns, rows: lines });
}
// biome-ignore lint/suspicious/noControlCharactersInRegex: the marks of the cursor
const bare = (lines: readonly string[]) => lines.map((line) => line.replace(/\x1b\[2?7m/g, "").trimEnd());

test("topFrame() fills the screen: totals, table, keys", () => {
  expect(bare(frame(ROWS, 130, 9))).toEqual([
    "3 processes: 2 running (1 paused, 1 thinking), 1 zombie | 8550 tokens/min",
    "memory 121.4 MB, heap 60.2 MB | loop lag 1.2ms in 10s | OS children 3 | connections 2 | up 62.0s",
    "   PID  NAME              STATE      MODEL            TOK/MIN    TOKENS      COST   SUBTREE  CHILD       AGE  INTENT",
    "     1  code-analyst      thinking   sonnet              8550       456         -         -      0      3.2s  分析代码",
    "     2  -                 paused     -                      0       456         -         -      0     72.4s  x\\x1b[2J",
    "     3  a-name-of-some-…  zombie     claude-sonnet…         0       456         -         -      0      3.2s  分析代码",
    "",
    "",
    "by rate | s sort  t tree  a all  / find  p pause  r cont  k signal  b budget  Enter attach  q quit",
  ]);
});

test("topFrame() shows who waits for a slot, and how long", () => {
  const waits = { slot: { lane: "anthropic sonnet", waited_ms: 12_900 } };
  const lines = bare(frame([aRow({ pid: 1, ...waits }), aRow({ pid: 2 })], 130, 9));
  expect(lines[0]).toContain("2 running (1 thinking, 1 waiting for a slot)");
  expect(lines[3]).toContain("  slot 12s   ");
  const placed = { slot: { ...waits.slot, place: 3 } };
  expect(bare(frame([aRow({ pid: 1, ...placed })], 130, 9))[3]).toContain("  #3 12s   ");
});

test("topFrame() marks the chosen row and the table's head over the whole width, and nothing else", () => {
  const lines = frame(ROWS, 100, 9);
  const marked = lines.flatMap((line, at) => (line.startsWith("\x1b[7m") ? [at] : []));
  expect(marked).toEqual([2, 4]);
  for (const at of marked) expect(widthOf(bare([lines[at] ?? ""])[0] ?? "")).toBeLessThanOrEqual(99);
  expect(lines[4]?.endsWith("   \x1b[27m")).toBe(true);
});

test("a narrow terminal goes without model, then children and subtree, age, rate, tokens; its cost stays at 40 columns; no line is wider than it", () => {
  const heads = [130, 110, 90, 80, 70, 62, 40, 30].map((columns) =>
    bare(frame(ROWS, columns, 9))[2]
      ?.split(/ +/)
      .slice(1),
  );
  expect(heads).toEqual([
    ["PID", "NAME", "STATE", "MODEL", "TOK/MIN", "TOKENS", "COST", "SUBTREE", "CHILD", "AGE", "INTENT"],
    ["PID", "NAME", "STATE", "TOK/MIN", "TOKENS", "COST", "SUBTREE", "CHILD", "AGE", "INTENT"],
    ["PID", "NAME", "STATE", "TOK/MIN", "TOKENS", "COST", "AGE", "INTENT"],
    ["PID", "NAME", "STATE", "TOK/MIN", "TOKENS", "COST", "INTENT"],
    ["PID", "NAME", "STATE", "TOKENS", "COST", "INTENT"],
    ["PID", "NAME", "STATE", "COST", "INTENT"],
    ["PID", "NAME", "STATE", "COST"],
    ["PID", "NAME", "STATE", "…"],
  ]);
  for (const columns of [1, 2, 10, 30, 66, 80, 121])
    for (const line of bare(frame(ROWS, columns, 9)))
      expect(widthOf(line)).toBeLessThanOrEqual(Math.max(1, columns - 1));
});

test.each([1, 2, 3, 4, 5, 24])("topFrame() has no more than %i lines", (lines) => {
  expect(frame(ROWS, 80, lines).length).toBeLessThanOrEqual(lines);
});

test("topFrame() of 10,000 processes makes only the rows that fit", () => {
  let looked = 0;
  const many = Array.from({ length: 10_000 }, (_, at) => {
    const row = aRow({ pid: at + 1 });
    // a cell that costs: what is not on the screen is never asked for it
    return Object.defineProperty(row, "intent", {
      get: () => {
        looked++;
        return "intent";
      },
    });
  });
  const snapshot = aSnapshot(many);
  const rows = arrange(snapshot, VIEW);
  const pids = rows.map(({ row }) => row.pid);
  looked = 0;
  const view = keepInSight({ ...VIEW, selected: 9_990 }, { pids, page: 20 });
  const lines = bare(topFrame({ view, snapshot, rows }, { columns: 80, rows: 24 }));
  expect(looked).toBe(20);
  expect(lines.filter((line) => / 9990 /.test(line))).toHaveLength(1);
  expect(lines[0]).toMatch(/^10000 processes: 10000 running/);
});

test("the last line is the prompt, what was said, or the keys", () => {
  const last = (change: object) => bare(frame(ROWS, 120, 9, { ...VIEW, ...change })).at(-1);
  expect(last({ prompt: { kind: "filter" }, filter: "ab" })).toBe("/ab_   (Enter keeps it, Esc shows all)");
  expect(last({ prompt: { kind: "signal", pid: 7 } })).toMatch(/^signal to PID 7: 1 TERM {2}2 KILL/);
  expect(last({ message: "PID 7: it has ended\x1b[2J" })).toBe("PID 7: it has ended\\x1b[2J");
  expect(bare(frame(ROWS, 40, 9)).at(-1)).toBe("by rate | s sort  t tree  a all  q quit");
  expect(last({ isTree: true, filter: "x" })).toMatch(/^by rate, tree, \/x \| s sort/);
});
