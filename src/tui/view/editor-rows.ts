/** The editor's text as rows of the screen, and where its cursor stands: pure. */
import { widthOf } from "../../cli/screen/text/width.ts";
import { graphemesOf } from "../text/line.ts";

interface EditorRows {
  readonly rows: readonly string[];
  readonly row: number;
  readonly column: number;
}

/** Rows of at most `width` columns; at most `most` of them, those around the cursor. */
export function editorRows(
  text: string,
  at: number,
  { width, most }: { width: number; most: number },
): EditorRows {
  const rows: string[] = [];
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
  return { rows: rows.slice(from, from + most), row: cursor.row - from, column: cursor.column };
}
