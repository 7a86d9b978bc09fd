import { expect, test } from "vitest";
import { PANEL_AT_START } from "../../abi/panel/keys.ts";
import { type PanelAgent, panelRows } from "../../abi/panel/rows.ts";
import { en } from "../../cli/screen/words/en.ts";
import { textOf } from "../text/line.ts";
import { themeOf } from "../text/theme.ts";
import { panelLines } from "./panel-lines.ts";

const agent = (n: number, change: Partial<PanelAgent> = {}): PanelAgent => ({
  ...{ agentId: `${n}`, role: "subagent", agentType: "explore", description: `find callers\x1b[2J ${n}` },
  ...{ status: "running", activity: "thinking", startTime: n, tokens: 10_900, cost: 0.25, prompt: "" },
  ...change,
});
const rows = (count: number, change: Partial<PanelAgent> = {}) =>
  panelRows(
    Array.from({ length: count }, (_, n) => agent(n, n === 0 ? change : {})),
    new Map(),
    23_900,
  );
const shown = (count: number, width: number, state = PANEL_AT_START, change: Partial<PanelAgent> = {}) =>
  panelLines(state, rows(count, change), { theme: themeOf("dark", "none"), words: en, width }).map(textOf);

test("no line without agents; else main, the agents, and what keys do", () => {
  expect(shown(0, 80)).toEqual([]);
  expect(shown(1, 79)).toEqual([
    "  ● main",
    "  ○ explore  find callers\\x1b[2J 0  thinking · 23s · ↓ 10.9k tokens · $0.25",
    "    shift+↓ to manage background agents",
  ]);
  const focused = { footerSelection: "bg_agent", selectedBgAgentIndex: 1 } as const;
  expect(shown(2, 79, focused).map((line) => line.slice(2, 3))).toEqual(["○", "○", "●", " "]);
});

test("a row names the tool that runs, and says who works in the background", () => {
  const at = (width: number, change: Partial<PanelAgent>) => shown(1, width, PANEL_AT_START, change)[1];
  const change = {
    activity: "tool",
    tool: "ba\x1bsh",
    worksAlone: true,
    description: "look",
    cost: 0,
  } as const;
  expect(at(79, change)).toBe("  ○ explore  look  runs ba\\x1bsh · 23s · background · ↓ 10.9k tokens");
  expect(at(44, change)).toBe("  ○ explore  look  runs ba\\x1bsh · 23s");
  expect(at(79, { activity: "tool", description: "look", tokens: 0, cost: 0 })).toBe(
    "  ○ explore  look  tool · 23s",
  );
  expect(at(79, { ...change, status: "completed", endTime: 9_000 })).toBe(
    "  ○ explore  look  completed · 9s · ↓ 10.9k tokens",
  );
});

test("100 agents are eight rows and a count; those that wait for the user are counted", () => {
  const lines = shown(100, 79, PANEL_AT_START, { blockedOn: "asks you" });
  expect(lines).toHaveLength(10);
  expect(lines[1]).toContain("asks you · 23s");
  expect(lines.at(-1)).toBe("    +92 more · 1 waits for you · shift+↓ to manage background agents");
});

test("at 40 columns the begin of the task stays, and no figure is cut", () => {
  const state = { theme: themeOf("dark", "none"), words: en, width: 40 };
  const row = (change: Partial<PanelAgent>, width = 40) =>
    textOf(panelLines(PANEL_AT_START, rows(1, change), { ...state, width })[1] ?? []);
  expect(row({ activity: "idle", cost: 0 })).toBe("  ○ explore  find callers\\x…  idle · 23s");
  expect(row({ description: "tests" })).toBe("  ○ explore  tests  thinking · 23s");
  const agentType = "general-purpose";
  expect(row({ agentType, description: "look at part 0" }, 39)).toBe(
    "  ○ general-purpose  look at part…  23s",
  );
  expect(row({ agentType, status: "failed", endTime: 6_000 }, 39)).toBe(
    "  ○ general-purpose  find call…  failed",
  );
  expect(row({ agentType, blockedOn: "asks you" }, 39)).toBe("  ○ general-purpose  find ca…  asks you");
});

test("the name of an agent has the colour of its agent file, where the terminal shows colours", () => {
  const styled = (theme: "none" | 256, change: Partial<PanelAgent>) => {
    const look = { theme: themeOf("dark", theme), words: en, width: 79 };
    return panelLines(PANEL_AT_START, rows(1, change), look)[1]?.find(({ text }) => text === "explore")
      ?.style;
  };
  const { dim } = themeOf("dark", 256);
  expect(styled(256, { color: "purple" })).toBe("35");
  expect(styled(256, {})).toBe(dim);
  expect(styled("none", { color: "purple" })).toBe("2");
});

test("on few rows one line counts them, until somebody goes there", () => {
  const look = { theme: themeOf("dark", "none"), words: en, width: 39, isTight: true };
  const brief = (change: Partial<PanelAgent> = {}, state = PANEL_AT_START) =>
    panelLines(state, rows(3, change), look).map(textOf);
  expect(brief({ status: "completed", endTime: 20 })).toEqual(["  ○ 2 agents work · 1 ended · ↓ lists"]);
  expect(brief({ blockedOn: "asks you" })).toEqual(["  ○ 3 agents work · 1 waits for you · ↓ lists"]);
  expect(brief({}, { footerSelection: "bg_agent", selectedBgAgentIndex: 0 } as never)).toHaveLength(5);
});
