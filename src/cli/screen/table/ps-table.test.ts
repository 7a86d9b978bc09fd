import { expect, test } from "vitest";
import type { WireProc } from "../../../abi/methods/process.ts";
import { aProcess } from "../../testing/fake-daemon.ts";
import { widthOf } from "../text/width.ts";
import { costLines, psTable, slotLines, teamLines } from "./ps-table.ts";

const running = aProcess({
  pid: 1,
  state: "running",
  intent: "分析代码",
  skills: ["code-analysis"],
  tokens_used: 456,
  elapsed_ms: 3200,
});
const zombie = aProcess({
  pid: 2,
  ppid: 1,
  state: "zombie",
  intent: "检查依赖",
  skills: [],
  tokens_used: 123,
  elapsed_ms: 1100,
});

const rowOf = (change: Partial<WireProc>, verbose = false): string =>
  psTable([{ ...running, ...change }], verbose).split("\n")[2] ?? "";

test("psTable() names a mode that is not the usual one, before the intent", () => {
  expect(rowOf({ mode: "plan" }, true)).toContain("[plan] 分析代码");
  expect(rowOf({}, true)).not.toContain("[");
  expect(rowOf({ mode: "plan" })).not.toContain("plan");
});

test("psTable() leaves the skills out where a terminal has no room for the screen of the manual", () => {
  const wide = psTable([running, zombie], false);
  expect(psTable([running, zombie], false, 57)).toBe(wide);
  const rows = psTable([running, zombie], false, 39).split("\n");
  expect(rows[0]).toBe("  PID   STATE     TOKENS   ELAPSED");
  expect(rows[2]).toBe("    1   running      456      3.2s");
  expect(Math.max(...rows.map(widthOf))).toBeLessThanOrEqual(39);
});

test("teamLines() names the members of each team, and who has nothing to do", () => {
  const member = (pid: number, called: string, more: Partial<WireProc> = {}) =>
    aProcess({ pid, called, team: "crew", activity: "thinking", ...more });
  expect(teamLines([running, member(3, "alice"), member(4, "bob", { activity: "idle" })])).toEqual([
    "[kernel] team crew: PID 3 alice, PID 4 bob (idle)",
  ]);
});

test("psTable() is the table of the manual", () => {
  expect(psTable([running, zombie], false)).toBe(
    `  PID   STATE     SKILL              TOKENS   ELAPSED
─────   ─────────   ───────────────   ────────   ────────
    1   running   code-analysis        456      3.2s
    2   zombie    —                    123      1.1s

1 active, 1 zombie, 2 total`,
  );
});

test("psTable() verbose is the table of the manual", () => {
  expect(psTable([running, zombie], true).split("\n").slice(0, 4).join("\n")).toBe(
    `  PID    PPID   STATE     SKILL              TOKENS   ELAPSED   INTENT
─────   ─────   ─────────   ───────────────   ────────   ────────   ────────────────────
    1       0   running   code-analysis        456      3.2s   分析代码
    2       1   zombie    —                    123      1.1s   检查依赖`,
  );
});

test("psTable() of nothing is one sentence", () => {
  expect(psTable([], true)).toBe("No active processes.");
});

test("psTable() cuts a skill of 16 characters to 15 and counts the others", () => {
  expect(rowOf({ skills: ["sixteen-letters!"] })).toBe(
    "    1   running   sixteen-letter…      456      3.2s",
  );
  expect(rowOf({ skills: ["review", "b", "c"] })).toBe(
    "    1   running   review+2             456      3.2s",
  );
  expect(rowOf({ skills: ["代码分析与检查器"] })).toBe(
    "    1   running   代码分析与检查…      456      3.2s",
  );
});

test("psTable() has rules as wide as its columns, whatever is in them", () => {
  const wide = { ...running, pid: 1234567, tokens_used: 12345678, skills: ["代码分析与检查器"] };
  const rows = [wide, { ...zombie, intent: "分".repeat(20) }];
  for (const verbose of [false, true]) {
    const [head = "", rules = "", ...lines] = psTable(rows, verbose).split("\n").slice(0, 4);
    const ends = [...rules.matchAll(/─+/g)].map(({ index, 0: rule }) => [index, index + rule.length]);
    for (const line of [head, ...lines]) {
      const columns = [...line].flatMap((character) => [
        character,
        ...(widthOf(character) === 2 ? [""] : []),
      ]);
      expect(columns.length).toBeLessThanOrEqual(rules.length);
      for (const [at, [, end = 0]] of ends.entries())
        expect(
          columns
            .slice(end, ends[at + 1]?.[0])
            .join("")
            .trim(),
        ).toBe("");
    }
  }
  expect(psTable([{ ...running, intent: "分".repeat(18) }], true).split("\n")[1]).toMatch(/ ─{36}$/);
});

test("psTable() lets wide numbers push their row", () => {
  expect(rowOf({ pid: 1234567, tokens_used: 12345678, elapsed_ms: 123456789 })).toBe(
    "1234567   running   code-analysis     12345678   123456.8s",
  );
});

test("psTable() shows the first line of an intent, 40 columns of it", () => {
  expect(rowOf({ intent: "分".repeat(21) }, true).endsWith(`   ${"分".repeat(19)}…`)).toBe(true);
  expect(rowOf({ intent: "分".repeat(20) }, true).endsWith(`   ${"分".repeat(20)}`)).toBe(true);
  expect(rowOf({ intent: "one\ntwo" }, true).endsWith("   one")).toBe(true);
  expect(rowOf({ intent: "\x1b[31mred" }, true)).not.toContain("\x1b");
});

test("psTable() counts created processes as active", () => {
  const many = Array.from({ length: 10_000 }, (_, at) => ({
    ...running,
    pid: at + 1,
    state: "created" as const,
  }));
  const lines = psTable(many, false).split("\n");
  expect(lines).toHaveLength(10_004);
  expect(lines.at(-1)).toBe("10000 active, 0 zombie, 10000 total");
});

test("slotLines() says who waits for a slot, and how long", () => {
  const waiting = { ...running, pid: 4, slot: { lane: "anthropic sonnet", waited_ms: 12_300 } };
  expect(slotLines([running, waiting])).toEqual([
    "[kernel] PID 4 has waited 12.3s for a slot of anthropic sonnet",
  ]);
});

test("costLines() says what has no known price, and never takes it for nothing", () => {
  const paid = { ...running, cost_usd: 0.25 };
  const unpriced = { ...zombie, cost_usd: 0, unpriced_calls: 2 };
  expect(costLines([running])).toEqual([]);
  expect(costLines([paid])).toEqual(["[kernel] cost: $0.25; crux budget shows whose"]);
  expect(costLines([running, unpriced])).toEqual(["[kernel] cost: unknown: 2 calls without a known price"]);
  expect(costLines([paid, unpriced])).toEqual([
    "[kernel] cost: $0.25, and 2 calls without a known price; crux budget shows whose",
  ]);
});

test("psTable() says that a session between two messages waits, and that a member without a task is idle", () => {
  const stateOf = (change: object) =>
    psTable([{ ...running, ...change }], false)
      .split("\n")[2]
      ?.split(/ +/)[2];
  expect(stateOf({ activity: "waiting" })).toBe("waiting");
  expect(stateOf({ activity: "idle" })).toBe("idle");
  expect(stateOf({ activity: "thinking" })).toBe("running");
  expect(stateOf({ activity: "waiting", state: "zombie" })).toBe("zombie");
});
