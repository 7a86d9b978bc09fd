import type { Result } from "../../../abi/methods/methods.ts";
import { microUsd, shownUsd } from "../../../lib/usd.ts";
import { safeLine } from "../text/safe-text.ts";
import { type Column, table } from "./table.ts";

type Found = Result<"cost.get">;
type Line = Found["lines"][number];

/** The whole screen of `crux cost`, with the sum as its last line. Thinking is a part of the output. */
export function costTable({ by, lines, cut }: Found, room?: number): string {
  if (lines.length === 0) return "Nothing was spent.";
  const sum = lines.reduce(
    (all, line) => ({
      key: "all",
      calls: all.calls + line.calls,
      tokens: all.tokens + line.tokens,
      input: all.input + line.input,
      written: all.written + line.written,
      cached: all.cached + line.cached,
      output: all.output + line.output,
      thinking: all.thinking + line.thinking,
      usd: all.usd + line.usd,
      unpriced: all.unpriced + line.unpriced,
    }),
    {
      ...{ key: "all", calls: 0, tokens: 0, input: 0, written: 0, cached: 0, output: 0, thinking: 0 },
      ...{ usd: 0, unpriced: 0 },
    },
  );
  const notes = [
    ...(sum.unpriced > 0
      ? ["? : calls whose price is not known; models.<id>.price in settings.json sets one"]
      : []),
    ...(cut
      ? [`only the newest 1,000 ${by === "call" ? "calls are shown" : "processes were looked at"}`]
      : []),
  ];
  // a subtree is a part of those above it
  const rows = by === "subtree" ? lines : [...lines, sum];
  return [table(columns(by), rows, room), ...notes].join("\n");
}

function columns(by: string): ReadonlyArray<Column<Line>> {
  return [
    { head: by.toUpperCase(), align: "left", maxColumns: 60, cell: ({ key }) => safeLine(key) },
    { head: "CALLS", align: "right", cell: ({ calls }) => String(calls) },
    { head: "TOKENS", align: "right", cell: ({ tokens }) => String(tokens) },
    { head: "INPUT", align: "right", cell: ({ input }) => String(input) },
    { head: "CACHED", align: "right", cell: ({ cached }) => String(cached) },
    { head: "OUTPUT", align: "right", cell: ({ output }) => String(output) },
    { head: "THINKING", align: "right", cell: ({ thinking }) => String(thinking) },
    { head: "COST", align: "right", cell: costCell },
  ];
}

function costCell({ usd, unpriced, calls }: Line): string {
  if (unpriced === calls) return "?";
  return `${shownUsd(microUsd(usd))}${unpriced > 0 ? " + ?" : ""}`;
}
