import type { Console } from "../console.ts";
import { cutToWidth } from "../screen/text/width.ts";

/** Prints a table whose last column is free text: at a terminal its lines are cut at the edge instead of wrapped. */
export async function putRows(console: Console, table: string): Promise<void> {
  const fit = (line: string) => (console.showsCalls ? cutToWidth(line, console.columns) : line);
  await console.line(table.split("\n").map(fit).join("\n"));
}
