import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  clamped,
  highlighted,
  onPanelKey,
  PANEL_AT_START,
  type PanelKey,
  type PanelState,
  panelHint,
} from "./keys.ts";
import {
  dismissed,
  left,
  nextEviction,
  PANEL_GRACE_MS,
  type PanelAgent,
  type PanelMarks,
  panelCounts,
  panelRows,
  shownRows,
  useWords,
  viewed,
} from "./rows.ts";

function agent(n: number, change: Partial<PanelAgent> = {}): PanelAgent {
  return {
    agentId: `agent-${n}`,
    role: "subagent",
    agentType: "explore",
    description: `task ${n}`,
    status: "running",
    activity: "thinking",
    startTime: n,
    tokens: 0,
    cost: 0,
    prompt: "",
    ...change,
  };
}
const NO_MARKS: PanelMarks = new Map();
const ids = (agents: readonly PanelAgent[], marks = NO_MARKS, now = 0) =>
  panelRows(agents, marks, now).map(({ agentId }) => agentId);

describe("panelRows()", () => {
  test("has those in the background by their start, and neither main nor internal ones", () => {
    const agents = [
      agent(3),
      agent(1, { role: "main" }),
      agent(2, { isBackgrounded: true }),
      agent(4, { isBackgrounded: false }),
      agent(5, { role: "internal" }),
      agent(6, { role: "teammate", startTime: 1 }),
    ];
    expect(ids(agents)).toEqual(["agent-6", "agent-2", "agent-3"]);
    expect(ids([agent(1, { role: "main" })])).toEqual([]);
  });

  test("has those of one reply in the order of their calls, whichever began first", () => {
    const agents = [
      agent(1, { place: 9 }),
      agent(2),
      agent(3, { place: 7 }),
      agent(4, { place: 8 }),
      agent(10, { startTime: 5, agentId: "10" }),
      agent(9, { startTime: 5, agentId: "9" }),
    ];
    expect(ids(agents)).toEqual(["agent-3", "agent-2", "agent-4", "agent-1", "9", "10"]);
  });

  test("stops the time at the end", () => {
    const [running, ended] = panelRows(
      [agent(0), agent(10, { endTime: 60, status: "failed" })],
      NO_MARKS,
      100,
    );
    expect([running?.elapsed, ended?.elapsed]).toEqual([100, 50]);
  });

  test("drops an ended one 30 s after its view was left, one that was dismissed at once", () => {
    const agents = [agent(1, { status: "completed" }), agent(2)];
    const seen = viewed(NO_MARKS, "agent-1");
    expect(ids(agents, seen, 1e9)).toEqual(["agent-1", "agent-2"]);
    const gone = left(left(seen, agents[0] as PanelAgent, 500), agents[1] as PanelAgent, 500);
    expect(ids(agents, gone, 499 + PANEL_GRACE_MS)).toEqual(["agent-1", "agent-2"]);
    expect(nextEviction(panelRows(agents, gone, 600))).toBe(500 + PANEL_GRACE_MS);
    expect(ids(agents, gone, 500 + PANEL_GRACE_MS)).toEqual(["agent-2"]);
    expect(ids(agents, viewed(gone, "agent-1"), 1e9)).toEqual(["agent-1", "agent-2"]);
    expect(ids(agents, dismissed(seen, "agent-1"), 1)).toEqual(["agent-2"]);
    expect(nextEviction(panelRows(agents, seen, 1))).toBeUndefined();
  });
});

test("panelRows() alone selects, for all that is drawn, counted and done by keys: nobody else makes a row", () => {
  // @ts-expect-error: a row that it has not made
  expect(panelCounts([{ ...agent(1), retain: false, elapsed: 0 }]).running).toBe(1);
  const src = join(import.meta.dirname, "../..");
  const files = readdirSync(src, { recursive: true, encoding: "utf8" })
    .filter((path) => /\.ts$/.test(path) && !/\.test\.ts$|^abi.panel/.test(path))
    .map((path) => ({ path, text: readFileSync(join(src, path), "utf8") }));
  const having = (words: RegExp) => files.filter(({ text }) => words.test(text)).map(({ path }) => path);
  // each screen is fed at one place, and what an agent, its mark or a cursor has is looked at in abi/panel alone
  for (const feeds of [/\bpanelRows\(/, /\bonPanelKey\(/, /\bagentsBelow\((?!$)/m])
    expect(having(feeds)).toEqual(["tui/agents-panel.ts"]);
  const own =
    /\bas (unknown as )?(readonly )?PanelRow\b|\bisBackgrounded\b|\bPANEL_GRACE_MS\b|\bselectedBgAgentIndex *[-+:=<>]/;
  expect(having(own)).toEqual([]);
});

test("counters, the rows around the cursor, and what one has used", () => {
  const agents = [
    agent(1, { blockedOn: "bash: npm test" }),
    agent(2, { status: "queued" }),
    agent(3, { status: "killed", blockedOn: "x" }),
  ];
  expect(panelCounts(panelRows(agents, NO_MARKS, 0))).toEqual({
    running: 1,
    queued: 1,
    blocked: 1,
    ended: 1,
  });
  const many = panelRows(
    Array.from({ length: 100 }, (_, n) => agent(n)),
    NO_MARKS,
    0,
  );
  const around = (cursor: number) => {
    const { rows, first, more } = shownRows(many, cursor);
    return [rows[0]?.agentId, rows.length, first, more];
  };
  expect(around(-1)).toEqual(["agent-0", 8, 0, 92]);
  expect(around(50)).toEqual(["agent-46", 8, 46, 92]);
  expect(around(99)).toEqual(["agent-92", 8, 92, 92]);
  expect(shownRows(many.slice(0, 3), 2)).toMatchObject({ first: 0, more: 0 });
  expect(useWords({ elapsed: 23_900, tokens: 10_900 })).toBe("23s · ↓ 10.9k tokens");
  expect(useWords({ elapsed: 83_000, tokens: 12 })).toBe("1m 23s · ↓ 12 tokens");
  expect(useWords({ elapsed: 4_000, tokens: 0 })).toBe("4s");
});

describe("onPanelKey()", () => {
  const rows = panelRows([agent(1), agent(2, { status: "completed" })], NO_MARKS, 0);
  const pressed = (state: PanelState, ...keys: PanelKey[]): PanelState =>
    keys.reduce((now, key) => onPanelKey(now, key, { rows, isIdle: true })?.state ?? now, state);
  const action = (state: PanelState, key: PanelKey, isIdle = true) =>
    onPanelKey(state, key, { rows, isIdle })?.action;

  test("down enters on main from an idle editor alone, moves and is clamped; up and Escape return", () => {
    expect(onPanelKey(PANEL_AT_START, "down", { rows, isIdle: false })).toBeUndefined();
    expect(onPanelKey(PANEL_AT_START, "down", { rows: [], isIdle: true })).toBeUndefined();
    for (const key of ["up", "enter", "escape", "x"] as const)
      expect(onPanelKey(PANEL_AT_START, key, { rows, isIdle: true })).toBeUndefined();
    const entered = pressed(PANEL_AT_START, "down");
    expect(entered).toEqual({ footerSelection: "bg_agent", selectedBgAgentIndex: -1 });
    expect(pressed(entered, "down", "down", "down").selectedBgAgentIndex).toBe(1);
    expect(pressed(entered, "down", "up", "up").footerSelection).toBeNull();
    expect(pressed(entered, "down", "escape").footerSelection).toBeNull();
  });

  test("Enter views and keeps the focus; on main it leaves the view", () => {
    const chosen = pressed(PANEL_AT_START, "down", "down");
    expect(action(chosen, "enter")).toEqual({ kind: "view", agentId: "agent-1" });
    const viewing = pressed(chosen, "enter");
    expect(viewing).toMatchObject({ footerSelection: "bg_agent", viewingAgentTaskId: "agent-1" });
    expect(action(pressed(viewing, "up"), "enter")).toEqual({ kind: "leave", agentId: "agent-1" });
    expect(pressed(viewing, "up", "enter")).not.toHaveProperty("viewingAgentTaskId");
    expect(action(pressed(PANEL_AT_START, "down"), "enter")).toBeUndefined();
  });

  test("ctrl+b hands over the agent that is highlighted, by the cursor or by its view; on main, and on one that has ended, it is not the panel's", () => {
    const first = pressed(PANEL_AT_START, "down", "down");
    expect(action(first, "ctrl_b")).toEqual({ kind: "background", agentId: "agent-1" });
    expect(action({ ...PANEL_AT_START, viewingAgentTaskId: "agent-1" }, "ctrl_b", false)).toEqual({
      kind: "background",
      agentId: "agent-1",
    });
    for (const state of [PANEL_AT_START, pressed(PANEL_AT_START, "down"), pressed(first, "down")])
      expect(onPanelKey(state, "ctrl_b", { rows, isIdle: true })).toBeUndefined();
  });

  test("x stops what is viewed, clears it once it has ended, and is a letter elsewhere", () => {
    const first = pressed(PANEL_AT_START, "down", "down", "enter");
    expect(action(first, "x")).toEqual({ kind: "stop", agentId: "agent-1" });
    expect(action({ ...first, footerSelection: null }, "x")).toEqual({ kind: "stop", agentId: "agent-1" });
    expect(action({ ...first, footerSelection: null }, "x", false)).toBeUndefined();
    const second = pressed(first, "down", "enter");
    expect(action(second, "x")).toEqual({ kind: "clear", agentId: "agent-2" });
    expect(pressed(second, "x")).not.toHaveProperty("viewingAgentTaskId");
    expect(action(PANEL_AT_START, "shift_down", false)).toEqual({ kind: "processes" });
  });

  test("a list that shrinks clamps the cursor and closes the view of what is gone", () => {
    const state = pressed(PANEL_AT_START, "down", "down", "down", "enter");
    expect(clamped(state, rows.slice(0, 1))).toEqual({
      footerSelection: "bg_agent",
      selectedBgAgentIndex: 0,
    });
    expect(clamped(state, [])).toEqual(PANEL_AT_START);
  });

  test("the highlight follows the cursor in the panel, else the view; the hints follow both", () => {
    const state = pressed(PANEL_AT_START, "down", "down", "enter", "down");
    expect(highlighted(state, rows)).toBe(1);
    const away = { ...state, footerSelection: null };
    expect(highlighted(away, rows)).toBe(0);
    expect(highlighted(PANEL_AT_START, rows)).toBe(-1);
    expect(panelHint(away, rows)).toBe("shift+↓ to manage · x to stop");
    expect(panelHint({ ...away, viewingAgentTaskId: "agent-2" }, rows)).toMatch(/x to clear$/);
    expect(panelHint(pressed(PANEL_AT_START, "down"), rows)).toBe("↑/↓ to select · Enter to view");
    expect(panelHint(PANEL_AT_START, rows)).toBe("shift+↓ to manage background agents");
    expect(panelHint(PANEL_AT_START, [])).toBe("");
  });
});
