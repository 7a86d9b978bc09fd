import { safeLine } from "../text/safe-text.ts";
import { cutToWidth, padToWidth, widthOf } from "../text/width.ts";
import { en, type Phrases } from "../words/en.ts";
import type { Snapshot, TopRow } from "./rows.ts";
import { TopTable, topHead } from "./table.ts";
import type { TopView } from "./view.ts";

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** Lines around the rows: two for totals, the head of the table, and the last one for keys. */
const FRAME_LINES = 4;

/** The process rows that fit on a screen of this height. */
export function pageOf({ rows }: Size): number {
  return Math.max(1, rows - FRAME_LINES);
}

interface TopScene {
  readonly view: TopView;
  readonly snapshot: Snapshot;
  readonly rows: readonly TopRow[];
}

/** The whole screen, line by line, limited to the visible rows. The last column stays free: a full line would wrap. */
export function topFrame(
  { view, snapshot, rows }: TopScene,
  size: Size,
  words: Phrases["top"] = en.top,
): string[] {
  const width = Math.max(1, size.columns - 1);
  const table = new TopTable(width);
  const page = rows.slice(view.offset, view.offset + pageOf(size));
  const cut = (line: string): string => cutToWidth(line, width);
  const body = page.map((row) => {
    const line = cut(table.row(row));
    return row.row.pid === view.selected ? inverse(line, width) : line;
  });
  const blank = Array.from({ length: Math.max(0, pageOf(size) - body.length) }, () => "");
  const head = topHead(snapshot, rows).map(cut);
  return [
    ...head,
    inverse(cut(table.head()), width),
    ...body,
    ...blank,
    cut(lastLine(view, words, width)),
  ].slice(0, size.rows);
}

function lastLine(
  { prompt, message, filter, sort, isTree }: TopView,
  words: Phrases["top"],
  width: number,
): string {
  switch (prompt.kind) {
    case "filter":
      return `/${safeLine(filter)}_   ${words.filter}`;
    case "signal":
      return words.signal(prompt.pid);
    case "budget":
      return `${words.budget(prompt.pid)} ${prompt.text}_   ${words.budgetKeys}`;
    case "none":
  }
  if (message !== "") return safeLine(message);
  const shown = [
    words.by(sort),
    ...(isTree ? [words.tree] : []),
    ...(filter === "" ? [] : [`/${safeLine(filter)}`]),
  ];
  const begun = `${shown.join(", ")} | `;
  return begun + fitting(words.keys, width - widthOf(begun));
}

/** The first keys, as many as there is room for, and the last one, which leaves. */
function fitting(keys: string, room: number): string {
  const parts = keys.split("  ");
  while (parts.length > 1 && widthOf(parts.join("  ")) > room) parts.splice(-2, 1);
  return parts.join("  ");
}

/** Not a colour, so it is used even without colours: it marks the cursor. */
function inverse(line: string, width: number): string {
  return `\x1b[7m${padToWidth(line, width)}\x1b[27m`;
}
