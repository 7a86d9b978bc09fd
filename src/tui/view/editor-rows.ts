/** The editor's text as rows of the screen, and where its cursor stands: pure. */
import { graphemesOf, widthOf } from "../../cli/screen/text/width.ts";

interface EditorRows {
  readonly rows: readonly string[];
  readonly row: number;
  readonly column: number;
  /** What is selected of each row, as offsets in it; absent: nothing is selected. */
  readonly lit?: readonly Lit[];
}

interface Lit {
  readonly from: number;
  readonly to: number;
}

const DARK: Lit = { from: 0, to: 0 };

interface Room {
  readonly width: number;
  readonly most: number;
  /** Offsets in the text. */
  readonly selected?: Lit | undefined;
}

/** Rows of at most `width` columns; at most `most` of them, those around the cursor. */
export function editorRows(text: string, at: number, { width, most, selected }: Room): EditorRows {
  const rows: string[] = [];
  const lit: Lit[] = [];
  let cursor = { row: 0, column: 0 };
  let offset = 0;
  for (const line of text.split("\n")) {
    let [row, used] = ["", 0];
    for (const each of graphemesOf(line)) {
      const shown = each === "\t" ? "  " : each;
      const columns = widthOf(shown);
      if (used + columns > width) {
        rows.push(row);
        [row, used] = ["", 0];
      }
      if (offset === at) cursor = { row: rows.length, column: used };
      if (selected !== undefined && offset >= selected.from && offset < selected.to)
        lit[rows.length] = { from: lit[rows.length]?.from ?? row.length, to: row.length + shown.length };
      row += shown;
      used += columns;
      offset += each.length;
    }
    if (offset === at && used >= width) {
      rows.push(row);
      [row, used] = ["", 0];
    }
    if (offset === at) cursor = { row: rows.length, column: used };
    rows.push(row);
    offset += 1;
  }
  const from = Math.max(0, Math.min(cursor.row - Math.floor(most / 2), rows.length - most));
  const shown = rows.slice(from, from + most);
  const place = { rows: shown, row: cursor.row - from, column: cursor.column };
  return selected === undefined ? place : { ...place, lit: shown.map((_, n) => lit[from + n] ?? DARK) };
}
