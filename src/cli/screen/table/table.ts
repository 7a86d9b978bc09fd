import { cutToWidth, padToWidth, widthOf } from "../text/width.ts";

export interface Column<R> {
  readonly head: string;
  readonly align: "left" | "right";
  /** Wider cells are cut; undefined: no limit. */
  readonly maxColumns?: number;
  /** Returns text already safe for a terminal. */
  cell(row: R): string;
}

const GAP = "   ";

/** Head, rule and one line per row, as wide as the content; lines have no trailing blanks. */
export function table<R>(columns: readonly Column<R>[], rows: readonly R[]): string {
  const cells = columns.map((column) => rows.map((row) => cut(column, column.cell(row))));
  const widths = columns.map(({ head }, at) =>
    (cells[at] ?? []).reduce((width, cell) => Math.max(width, widthOf(cell)), widthOf(head)),
  );
  const line = (texts: readonly string[]): string =>
    columns
      .map(({ align }, at) => aligned(texts[at] ?? "", widths[at] ?? 0, align))
      .join(GAP)
      .trimEnd();
  return [
    line(columns.map(({ head }) => head)),
    line(widths.map((width) => "─".repeat(width))),
    ...rows.map((_, at) => line(cells.map((column) => column[at] ?? ""))),
  ].join("\n");
}

export function aligned(text: string, columns: number, align: "left" | "right"): string {
  return align === "left"
    ? padToWidth(text, columns)
    : " ".repeat(Math.max(0, columns - widthOf(text))) + text;
}

function cut<R>({ maxColumns }: Column<R>, text: string): string {
  return maxColumns === undefined ? text : cutToWidth(text, maxColumns);
}
