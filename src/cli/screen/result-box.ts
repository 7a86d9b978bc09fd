import { safeLines } from "./text/safe-text.ts";

const WIDTH = 80;
const HEAD = "══ Result ";

/**
 * The box around a result: non-empty lines are indented by two, nothing is wrapped. No final newline. `columns`: of the
 * terminal; a narrow one has narrow rules.
 */
export function resultBox(result: string, columns = WIDTH): string {
  const width = Math.min(WIDTH, columns);
  const lines = safeLines(result)
    .replace(/\n+$/, "")
    .split("\n")
    .map((line) => (line === "" ? "" : `  ${line}`));
  return [HEAD.padEnd(width, "═").slice(0, width), ...lines, "═".repeat(width)].join("\n");
}
