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
type RowWords = Pick<EntryLook["words"], "panel" | "live">;

interface PanelLook extends Pick<EntryLook, "theme" | "width" | "words"> {
  readonly isTight?: boolean;
}

export function panelLines(
  state: PanelState,
  rows: readonly PanelRow[],
  { theme, width, words, isTight = false }: PanelLook,
): readonly Line[] {
  const { panel, live } = words;
  if (rows.length === 0) return [];
  // on few rows they are listed for whoever goes there
  if (isTight && state.footerSelection !== "bg_agent")
    return [[{ text: `  ○ ${briefText(rows, panel)}`, style: theme.dim }]];
  const at = highlighted(state, rows);
  const { rows: shown, first, more } = shownRows(rows, state.selectedBgAgentIndex);
  const lines = shown.map((row, n): Line => {
    const isMarked = first + n === at;
    const usual = isMarked ? "" : theme.dim;
    const role = row.status === "running" ? theme.success : theme.dim;
    return [
      { text: isMarked ? "  ● " : "  ○ ", style: isMarked ? theme.accent : role },
      { text: nameOf(row), style: colorStyle(row, theme) || usual },
      { text: factsText(row, width - 4, words), style: usual },
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

function briefText(rows: readonly PanelRow[], panel: PanelWords): string {
  const { running, queued, blocked, ended } = panelCounts(rows);
  const counts = [panel.atWork(running + queued), panel.waits(blocked), panel.over(ended)];
  const shown = counts.filter((_, n) => [running + queued, blocked, ended][n] !== 0);
  return [...shown, panel.list].join(" · ");
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

/** So much of what it is to do tells it from others of its type. */
const TASK_CELLS = 14;

/**
 * `  find callers  23s · ↓ 10.9k tokens`, beside the name. What does not fit whole beside the begin of what it is to do is left out,
 * the last figure first; what it does just now goes before its time, unless it waits for the user or has ended.
 */
function factsText(row: PanelRow, width: number, words: RowWords): string {
  const { doing, where, time, use } = factsOf(row, words);
  const figures = [
    ...(doing === "" ? [] : [doing]),
    ...[time, ...where, ...use],
    ...(row.cost > 0 ? [costCell(row.cost)] : []),
  ];
  const task = safeLine(row.description);
  const room = width - widthOf(nameOf(row)) - (task === "" ? 2 : 4 + Math.min(TASK_CELLS, widthOf(task)));
  const shorter = figures.map((_, n) => figures.slice(0, figures.length - n));
  // the last to go is what it waits for or how it ended, else its time
  const isSaid = row.blockedOn !== undefined || hasEnded(row);
  const choices = isSaid ? shorter : [...shorter.slice(0, -1), [time]];
  const facts = (choices.find((each) => widthOf(each.join(" · ")) <= room) ?? choices.at(-1) ?? []).join(
    " · ",
  );
  const left = width - widthOf(nameOf(row)) - widthOf(facts) - 4;
  return ["", ...(left < 4 ? [] : [cutToWidth(task, left)]), facts].join("  ");
}

/** `thinking · 23s · ↓ 10.9k tokens`: a long reply is not in the history before it is whole. */
export function workText(row: PanelRow, words: RowWords): string {
  const { doing, where, time, use } = factsOf(row, words);
  return [...(doing === "" ? [] : [doing]), time, ...where, ...use].join(" · ");
}

function factsOf(row: PanelRow, words: RowWords) {
  const { panel } = words;
  const isOver = hasEnded(row);
  const doing =
    isOver || row.status === "queued"
      ? panel.status[row.status]
      : (row.blockedOn ?? activityWord(row, words));
  const where = row.worksAlone === true && !isOver ? [panel.background] : [];
  const [time = "", ...use] = useWords(row, panel.tokens).split(" · ");
  return { doing, where, time, use };
}

function activityWord({ activity, tool }: PanelRow, { live, panel: { activity: known } }: RowWords): string {
  if (activity === "tool" && tool !== undefined) return live.runs(safeLine(tool));
  if (activity === null) return "";
  return Object.hasOwn(known, activity) ? known[activity as keyof typeof known] : activity;
}
