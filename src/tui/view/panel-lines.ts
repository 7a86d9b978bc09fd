/** The agents panel below the mode line: `main`, then the agents around the cursor. Without agents it has no line. Pure. */
import { highlighted, type PanelState, panelHint } from "../../abi/panel/keys.ts";
import { hasEnded, type PanelRow, panelCounts, shownRows, useWords } from "../../abi/panel/rows.ts";
import { costCell } from "../../cli/screen/table/process-cells.ts";
import { safeLine } from "../../cli/screen/text/safe-text.ts";
import { cutToWidth, widthOf } from "../../cli/screen/text/width.ts";
import type { Line } from "../text/line.ts";
import type { EntryLook } from "./entry-lines.ts";

export function panelLines(
  state: PanelState,
  rows: readonly PanelRow[],
  { theme, width }: Pick<EntryLook, "theme" | "width">,
): readonly Line[] {
  if (rows.length === 0) return [];
  const at = highlighted(state, rows);
  const { rows: shown, first, more } = shownRows(rows, state.selectedBgAgentIndex);
  const lines = shown.map((row, n): Line => {
    const isMarked = first + n === at;
    const role = row.status === "running" ? theme.success : theme.dim;
    return [
      { text: isMarked ? "  ● " : "  ○ ", style: isMarked ? theme.accent : role },
      { text: rowText(row, width - 4), style: isMarked ? "" : theme.dim },
    ];
  });
  const { blocked } = panelCounts(rows);
  const notes = [
    ...(more > 0 ? [`+${more} more`] : []),
    ...(blocked > 0 ? [blocked === 1 ? "1 waits for you" : `${blocked} wait for you`] : []),
    panelHint(state, rows),
  ];
  return [
    [{ text: at < 0 ? "  ● main" : "  ○ main", style: at < 0 ? theme.accent : theme.dim }],
    ...lines,
    [{ text: `    ${notes.filter((note) => note !== "").join(" · ")}`, style: theme.dim }],
  ];
}

/** `explore  find callers  23s · ↓ 10.9k tokens`: what it is to do is cut first. */
function rowText(row: PanelRow, width: number): string {
  const doing = hasEnded(row) || row.status === "queued" ? row.status : (row.blockedOn ?? row.activity ?? "");
  const facts = [
    ...(doing === "" ? [] : [doing]),
    useWords(row),
    ...(row.cost > 0 ? [costCell(row.cost)] : []),
  ].join(" · ");
  const name = safeLine(row.name ?? row.agentType);
  const room = width - widthOf(name) - widthOf(facts) - 4;
  const words = room < 4 ? [] : [cutToWidth(safeLine(row.description), room)];
  return [name, ...words, facts].join("  ");
}
