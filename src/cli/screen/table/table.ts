import { cutToWidth, padToWidth, widthOf } from "../text/width.ts";

export interface Column<R> {
  readonly head: string;
  readonly align: "left" | "right";
  /** Wider cells are cut, and more where room is short; undefined: no limit. */
  readonly maxColumns?: number;
  /** Left out where room is short. */
  readonly isExtra?: boolean;
  /** Returns text already safe for a terminal. */
  cell(row: R): string;
}

/** A column with its cells, all of `width` at the most. */
interface Filled {
  readonly head: string;
  readonly align: "left" | "right";
  readonly isExtra: boolean;
  /** Its cells may be cut to `LEAST`. */
  readonly isFlexible: boolean;
  readonly cells: readonly string[];
  readonly width: number;
}

const GAP = "   ";
/** The narrowest that a text is cut to make room. */
const LEAST = 12;
/** A text with less tells little: extra columns go before it is cut to that. */
const TELLING = 20;

/**
 * Head, rule and one line per row, as wide as the content; lines have no trailing blanks. `room`: the width of the
 * terminal; undefined: not at a terminal, where nothing is cut. Where room is short, texts are cut, then extra columns left
 * out, from the right, then texts are cut more; a table that is wider still is shown as one block of `HEAD  cell` lines for each row.
 */
export function table<R>(columns: readonly Column<R>[], rows: readonly R[], room = Infinity): string {
  let shown = columns.map((column, at) => filled(column, rows, at === columns.length - 1));
  while (leastWidth(shown, TELLING) > room) {
    const extra = shown.findLastIndex(({ isExtra }) => isExtra);
    if (extra === -1) break;
    shown = shown.toSpliced(extra, 1);
  }
  if (leastWidth(shown, LEAST) > room) return blocks(shown, room);
  shown = fitted(shown, room);
  const line = (texts: readonly string[]): string =>
    shown
      .map(({ align, width }, at) => aligned(cutToWidth(texts[at] ?? "", width), width, align))
      .join(GAP)
      .trimEnd();
  return [
    line(shown.map(({ head }) => head)),
    line(shown.map(({ width }) => "─".repeat(width))),
    ...rows.map((_, at) => line(shown.map(({ cells }) => cells[at] ?? ""))),
  ].join("\n");
}

function filled<R>(column: Column<R>, rows: readonly R[], isLast: boolean): Filled {
  const { head, align, maxColumns, isExtra = false } = column;
  const cells = rows.map((row) => cutToWidth(column.cell(row), maxColumns ?? Infinity));
  const width = cells.reduce((most, cell) => Math.max(most, widthOf(cell)), widthOf(head));
  const isFlexible = align === "left" && (isLast || maxColumns !== undefined);
  return { head, align, isExtra, isFlexible, cells, width };
}

/** The width of the line with every text cut to `least`. */
function leastWidth(columns: readonly Filled[], least: number): number {
  const widths = columns.map((column) => (column.isFlexible ? Math.min(column.width, least) : column.width));
  return widths.reduce((sum, width) => sum + width, GAP.length * (columns.length - 1));
}

/** Cuts the widest text first, so that the others stay whole as long as possible. */
function fitted(columns: readonly Filled[], room: number): Filled[] {
  const widths = columns.map(({ width }) => width);
  const cuttable = columns.map(({ isFlexible }, at) => (isFlexible ? at : -1)).filter((at) => at >= 0);
  const line = (): number => widths.reduce((sum, width) => sum + width, GAP.length * (columns.length - 1));
  for (let over = line() - room; over > 0; over--) {
    const widest = cuttable.reduce((most, at) => ((widths[at] ?? 0) > (widths[most] ?? 0) ? at : most));
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return columns.map((column, at) => ({ ...column, width: widths[at] ?? 0 }));
}

/** A block per row, without its empty cells; a blank line between two. */
function blocks(columns: readonly Filled[], room: number): string {
  const headWidth = Math.max(0, ...columns.map(({ head }) => widthOf(head)));
  const rows = (columns[0]?.cells ?? []).map((_, row) =>
    columns.flatMap(({ head, cells }) => {
      const cell = cells[row] ?? "";
      return cell === "" ? [] : [cutToWidth(`${padToWidth(head, headWidth)}  ${cell}`, room)];
    }),
  );
  return rows.map((lines) => lines.join("\n")).join("\n\n");
}

export function aligned(text: string, columns: number, align: "left" | "right"): string {
  return align === "left"
    ? padToWidth(text, columns)
    : " ".repeat(Math.max(0, columns - widthOf(text))) + text;
}
