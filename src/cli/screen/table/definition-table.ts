import type { Definition } from "../../../abi/methods/definition.ts";
import { safeLine } from "../text/safe-text.ts";
import { type Column, table } from "./table.ts";

const NAME: Column<Definition> = {
  head: "NAME",
  align: "left",
  maxColumns: 32,
  cell: ({ name, issues }) => `${safeLine(name)}${markOf(issues)}`,
};
const MODEL: Column<Definition> = {
  head: "MODEL",
  align: "left",
  maxColumns: 24,
  cell: ({ model }) => safeLine(model === "" ? "-" : model),
};
const FROM: Column<Definition> = {
  head: "FROM",
  align: "left",
  maxColumns: 20,
  cell: ({ source, shadowedBy }) => `${source}${shadowedBy === "" ? "" : " (shadowed)"}`,
};
const REST: ReadonlyArray<Column<Definition>> = [
  { head: "SOURCE", align: "left", maxColumns: 60, cell: ({ path }) => safeLine(path) },
  { head: "DESCRIPTION", align: "left", maxColumns: 80, cell: (found) => safeLine(saidOf(found)) },
];

/** Agents or skills, one per line; `!` marks those with findings of a check. */
export function definitionTable(
  kind: "agents" | "skills",
  found: readonly Definition[],
  room?: number,
): string {
  return table([NAME, ...(kind === "agents" ? [MODEL] : []), FROM, ...REST], found, room);
}

/** What it is for, or why it cannot be loaded. */
function saidOf({ description, issues }: Definition): string {
  return issues.find(({ severity }) => severity === "error")?.message ?? description;
}

function markOf(issues: Definition["issues"]): string {
  return issues.some(({ severity }) => severity !== "note") ? " !" : "";
}
