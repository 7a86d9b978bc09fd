import type { Result } from "../../../abi/methods/methods.ts";
import { seconds } from "../text/elapsed.ts";
import { safeLine } from "../text/safe-text.ts";
import { padToWidth } from "../text/width.ts";

export type ReplicaRow = Result<"compose.ps">["services"][number];

interface Column {
  readonly title: string;
  readonly width: number;
  readonly isLeft?: boolean;
  readonly cell: (row: ReplicaRow) => string;
}

const COLUMNS: readonly Column[] = [
  { title: "SERVICE", width: 16, isLeft: true, cell: ({ service }) => safeLine(service) },
  { title: "N", width: 3, cell: ({ replica }) => String(replica) },
  { title: "PID", width: 5, cell: ({ pid }) => numberOrDash(pid) },
  { title: "STATE", width: 9, isLeft: true, cell: ({ state }) => state },
  { title: "EXIT", width: 4, cell: ({ exit_code }) => numberOrDash(exit_code) },
  { title: "RESTARTS", width: 8, cell: ({ restarts }) => String(restarts) },
  { title: "TOKENS", width: 8, cell: ({ tokens_used }) => String(tokens_used) },
  { title: "ELAPSED", width: 8, cell: ({ elapsed_ms }) => seconds(elapsed_ms) },
];
const GAP = "   ";

/** The whole screen of `crux compose ps`, without its final newline. */
export function composeTable(rows: readonly ReplicaRow[]): string {
  return [
    line((column) => column.title),
    line(({ width }) => "─".repeat(width)),
    ...rows.map((row) => line(({ cell }) => cell(row))),
    ...rows.flatMap(({ service, replica, note }) =>
      note === undefined ? [] : [`${safeLine(service)}-${replica}: ${safeLine(note)}`],
    ),
  ].join("\n");
}

function line(textOf: (column: Column) => string): string {
  return COLUMNS.map((column) => {
    const text = textOf(column);
    return column.isLeft === true ? padToWidth(text, column.width) : text.padStart(column.width);
  }).join(GAP);
}

function numberOrDash(value: number | null): string {
  return value === null ? "—" : String(value);
}
