import type { Definition } from "../../../abi/methods/definition.ts";
import { safeLine } from "../text/safe-text.ts";
import { type Column, table } from "./table.ts";

const COLUMNS: ReadonlyArray<Column<Definition>> = [
  {
    head: "NAME",
    align: "left",
    maxColumns: 32,
    cell: ({ name, issues }) => `${safeLine(name)}${markOf(issues)}`,
  },
  { head: "MODEL", align: "left", maxColumns: 24, cell: ({ model }) => safeLine(model === "" ? "-" : model) },
  { head: "SOURCE", align: "left", maxColumns: 60, cell: ({ path }) => safeLine(path) },
  { head: "DESCRIPTION", align: "left", maxColumns: 80, cell: ({ description }) => safeLine(description) },
];

/** Agents or skills, one per line; `!` marks those with findings of a check. */
export function definitionTable(found: readonly Definition[], room?: number): string {
  return table(COLUMNS, found, room);
}

function markOf(issues: Definition["issues"]): string {
  return issues.some(({ severity }) => severity !== "note") ? " !" : "";
}
