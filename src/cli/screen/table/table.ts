import { cutToWidth, padToWidth, widthOf } from "../text/width.ts";

export interface Column<R> {
  readonly head: string;
  readonly align: "left" | "right";
  /** Wider cells are cut; without it none is. */
  readonly maxColumns?: number;
  /** Safe for a terminal already. */
  cell(row: R): string;
}

const GAP = "   ";

/** Head, rule and a line for each row, as wide as what is in it; lines end with their last character. */
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
