import { seconds } from "../text/elapsed.ts";
import type { Branch } from "./forest.ts";
import { costCell, INTENT_COLUMNS, intentCell, nameCell, stateCell, taskOf } from "./process-cells.ts";
import { type Role, roleWord } from "./roles.ts";
import { type Column, table } from "./table.ts";

const PROCESS_COLUMNS = 60;

/** `role`: absent for a process whose tree is not known. */
export type TreeRow = Branch & { readonly role?: Role | undefined };

const COLUMNS: ReadonlyArray<Column<TreeRow>> = [
  {
    head: "PROCESS",
    align: "left",
    maxColumns: PROCESS_COLUMNS,
    cell: ({ prefix, row }) => `${prefix}${row.pid} ${nameCell(row)}`,
  },
  {
    head: "KIND",
    align: "left",
    cell: ({ row, role }) => (row.kind === "agent" ? roleWord(role) : row.kind),
  },
  { head: "STATE", align: "left", cell: ({ row }) => stateCell(row) },
  { head: "TOKENS", align: "right", isExtra: true, cell: ({ row }) => String(row.tokens_used) },
  { head: "TREE TOKENS", align: "right", cell: ({ subtreeTokens }) => String(subtreeTokens) },
  {
    head: "COST",
    align: "right",
    isExtra: true,
    cell: ({ row }) => costCell(row.cost_usd ?? 0, row.unpriced_calls),
  },
  {
    head: "TREE COST",
    align: "right",
    cell: ({ subtreeUsd, subtreeUnpriced }) => costCell(subtreeUsd, subtreeUnpriced),
  },
  { head: "ELAPSED", align: "right", isExtra: true, cell: ({ row }) => seconds(row.elapsed_ms) },
  { head: "INTENT", align: "left", maxColumns: INTENT_COLUMNS, cell: ({ row }) => intentCell(taskOf(row)) },
];

/** The whole screen of `crux tree`, without its final newline. */
export function treeTable(branches: readonly TreeRow[], room?: number): string {
  return branches.length === 0 ? "No active processes." : table(COLUMNS, branches, room);
}
