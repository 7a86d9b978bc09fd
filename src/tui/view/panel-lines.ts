/** The agents panel below the mode line: `main`, then the agents around the cursor. Without agents it has no line. Pure. */

import { highlighted, type PanelState, panelHint } from "../../abi/panel/keys.ts";
import { hasEnded, type PanelRow, panelCounts, shownRows, useWords } from "../../abi/panel/rows.ts";
import type { AgentColor } from "../../abi/process.ts";
import { costCell } from "../../cli/screen/table/process-cells.ts";
import { safeLine } from "../../cli/screen/text/safe-text.ts";
import { cutToWidth, widthOf } from "../../cli/screen/text/width.ts";
import type { Line } from "../text/line.ts";
import type { Theme } from "../text/theme.ts";
import type { EntryLook } from "./entry-lines.ts";

type PanelWords = EntryLook["words"]["panel"];

export function panelLines(
  state: PanelState,
  rows: readonly PanelRow[],
  { theme, width, words: { panel, live } }: Pick<EntryLook, "theme" | "width" | "words">,
): readonly Line[] {
  if (rows.length === 0) return [];
  const at = highlighted(state, rows);
  const { rows: shown, first, more } = shownRows(rows, state.selectedBgAgentIndex);
  const lines = shown.map((row, n): Line => {
    const isMarked = first + n === at;
    const usual = isMarked ? "" : theme.dim;
    const role = row.status === "running" ? theme.success : theme.dim;
    return [
      { text: isMarked ? "  ● " : "  ○ ", style: isMarked ? theme.accent : role },
      { text: nameOf(row), style: colorStyle(row, theme) || usual },
      { text: factsText(row, width - 4, panel), style: usual },
    ];
  });
  const { blocked } = panelCounts(rows);
  const notes = [
    ...(more > 0 ? [live.more(more)] : []),
    ...(blocked > 0 ? [panel.waits(blocked)] : []),
    panelHint(state, rows, panel.hints),
  ];
  return [
    [{ text: `  ${at < 0 ? "●" : "○"} ${panel.main}`, style: at < 0 ? theme.accent : theme.dim }],
    ...lines,
    [{ text: `    ${notes.filter((note) => note !== "").join(" · ")}`, style: theme.dim }],
  ];
}

/** Of the sixteen that every terminal has: the one for orange is its bright yellow. */
const COLORS: Readonly<Record<AgentColor, string>> = {
  ...{ red: "31", green: "32", yellow: "33", blue: "34", purple: "35", cyan: "36", orange: "93", pink: "95" },
};

/** "": its agent file names no colour, or the terminal shows none. */
function colorStyle({ color }: PanelRow, theme: Theme): string {
  return color === undefined || theme.accent === "" ? "" : COLORS[color];
}

function nameOf({ name, agentType }: PanelRow): string {
  return safeLine(name ?? agentType);
}

/**
 * `  find callers  23s · ↓ 10.9k tokens`, beside the name: what it is to do is cut first; then figures that do not fit whole are left
 * out, the last one first.
 */
function factsText(row: PanelRow, width: number, words: PanelWords): string {
  const doing =
    hasEnded(row) || row.status === "queued"
      ? words.status[row.status]
      : (row.blockedOn ?? activityWord(row.activity ?? "", words));
  const figures = [
    ...(doing === "" ? [] : [doing]),
    ...useWords(row, words.tokens).split(" · "),
    ...(row.cost > 0 ? [costCell(row.cost)] : []),
  ];
  const name = nameOf(row);
  while (figures.length > 1 && widthOf(`${name}  ${figures.join(" · ")}`) > width) figures.pop();
  const facts = figures.join(" · ");
  const room = width - widthOf(name) - widthOf(facts) - 4;
  const task = room < 4 ? [] : [cutToWidth(safeLine(row.description), room)];
  return ["", ...task, facts].join("  ");
}

function activityWord(activity: string, { activity: known }: PanelWords): string {
  return Object.hasOwn(known, activity) ? known[activity as keyof typeof known] : activity;
}
