import type { Result } from "../../../abi/methods/methods.ts";
import { microUsd, shownUsd } from "../../../lib/usd.ts";
import { safeLine } from "../text/safe-text.ts";
import { type Column, table } from "./table.ts";

type Found = Result<"cost.get">;
type Line = Found["lines"][number];

/** The whole screen of `crux cost`, with the sum as its last line. */
export function costTable({ by, lines, cut }: Found, room?: number): string {
  if (lines.length === 0) return "Nothing was spent.";
  const sum = lines.reduce(
    (all, line) => ({
      key: "all",
      calls: all.calls + line.calls,
      tokens: all.tokens + line.tokens,
      usd: all.usd + line.usd,
      unpriced: all.unpriced + line.unpriced,
    }),
    { key: "all", calls: 0, tokens: 0, usd: 0, unpriced: 0 },
  );
  const notes = [
    ...(sum.unpriced > 0
      ? ["? : calls whose price is not known; models.<id>.price in settings.json sets one"]
      : []),
    ...(cut ? ["only the newest 1,000 processes were looked at"] : []),
  ];
  return [table(columns(by), [...lines, sum], room), ...notes].join("\n");
}

function columns(by: string): ReadonlyArray<Column<Line>> {
  return [
    { head: by.toUpperCase(), align: "left", maxColumns: 48, cell: ({ key }) => safeLine(key) },
    { head: "CALLS", align: "right", cell: ({ calls }) => String(calls) },
    { head: "TOKENS", align: "right", cell: ({ tokens }) => String(tokens) },
    { head: "COST", align: "right", cell: costCell },
  ];
}

function costCell({ usd, unpriced, calls }: Line): string {
  if (unpriced === calls) return "?";
  return `${shownUsd(microUsd(usd))}${unpriced > 0 ? " + ?" : ""}`;
}
