import { safeLines } from "./text/safe-text.ts";

const HEAD = `══ Result ${"═".repeat(70)}`;
const FOOT = "═".repeat(80);

/** The box around a result: non-empty lines are indented by two, nothing is wrapped. No final newline. */
export function resultBox(result: string): string {
  const lines = safeLines(result)
    .replace(/\n+$/, "")
    .split("\n")
    .map((line) => (line === "" ? "" : `  ${line}`));
  return [HEAD, ...lines, FOOT].join("\n");
}
