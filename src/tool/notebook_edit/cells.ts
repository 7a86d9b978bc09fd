/** Changes of one cell in the text of a notebook, in the indentation that the text has. Pure. */
import { type Cell, cellSpans } from "../notebook.ts";

export function replaceCell(text: string, at: number, cell: Cell): string {
  const { cells } = cellSpans(text);
  const { start, end } = cells[at] ?? { start: 0, end: 0 };
  return text.slice(0, start) + cellText(text, cell) + text.slice(end);
}

/** With the comma that parted it from its neighbour. */
export function deleteCell(text: string, at: number): string {
  const { list, cells } = cellSpans(text);
  const [before, cell, after] = [cells[at - 1], cells[at], cells[at + 1]];
  if (cell === undefined) return text;
  if (after !== undefined) return text.slice(0, cell.start) + text.slice(after.start);
  if (before !== undefined) return text.slice(0, before.end) + text.slice(cell.end);
  return `${text.slice(0, list.start)}[]${text.slice(list.end)}`;
}

/** Before the cell that is at this place. */
export function insertCell(text: string, at: number, cell: Cell): string {
  const { list, cells } = cellSpans(text);
  const [before, after] = [cells[at - 1], cells[at]];
  const { unit, newline } = layoutOf(text);
  const inner = unit === "" ? "" : newline + unit.repeat(2);
  const made = cellText(text, cell);
  if (before !== undefined) return `${text.slice(0, before.end)},${inner}${made}${text.slice(before.end)}`;
  if (after !== undefined) return `${text.slice(0, after.start)}${made},${inner}${text.slice(after.start)}`;
  const outer = unit === "" ? "" : newline + unit;
  return `${text.slice(0, list.start)}[${inner}${made}${outer}]${text.slice(list.end)}`;
}

function cellText(text: string, cell: Cell): string {
  const { unit, newline } = layoutOf(text);
  return JSON.stringify(cell, null, unit).replaceAll("\n", newline + unit.repeat(2));
}

/** `unit`: what one level is indented by; "" all stands in one line. */
function layoutOf(text: string): { readonly unit: string; readonly newline: string } {
  const [, newline = "\n", unit = ""] = /^\uFEFF?\s*\{(\r?\n)([ \t]*)/.exec(text) ?? [];
  return { unit, newline };
}
