/** The lines of `crux top`: totals, the head of the table, its rows. No line is wider than requested. */
import type { Result } from "../../../abi/methods/methods.ts";
import {
  costCell,
  INTENT_COLUMNS,
  intentCell,
  modeWord,
  nameCell,
  slotWord,
  taskOf,
} from "../table/process-cells.ts";
import { roleWord } from "../table/roles.ts";
import { aligned } from "../table/table.ts";
import { seconds } from "../text/elapsed.ts";
import { safeLine } from "../text/safe-text.ts";
import { cutToWidth } from "../text/width.ts";
import type { Snapshot, TopRow } from "./rows.ts";

interface TopColumn {
  readonly head: string;
  readonly columns: number;
  /** On a terminal too narrow for all that is left. */
  readonly narrow?: number;
  readonly align: "left" | "right";
  /** Narrow terminals drop columns in descending order of this number. */
  readonly dispensable: number;
  cell(row: TopRow): string;
}

const GAP = "  ";
/** The columns to keep for the intent; other columns are dropped first. */
const MIN_INTENT_COLUMNS = 12;
/** With fewer columns it says nothing. */
const LEAST_INTENT_COLUMNS = 4;

const COLUMNS: readonly TopColumn[] = [
  { head: "PID", columns: 6, narrow: 5, align: "right", dispensable: 0, cell: ({ row }) => String(row.pid) },
  {
    head: "NAME",
    columns: 16,
    narrow: 10,
    align: "left",
    dispensable: 0,
    cell: ({ row, prefix }) => prefix + nameCell(row),
  },
  {
    head: "ROLE",
    columns: 10,
    align: "left",
    dispensable: 6,
    cell: ({ role }) => roleWord(role),
  },
  {
    head: "STATE",
    columns: 9,
    narrow: 8,
    align: "left",
    dispensable: 0,
    cell: ({ row }) => (row.state === "running" ? (queueWord(row) ?? row.activity ?? row.state) : row.state),
  },
  {
    head: "MODEL",
    columns: 14,
    align: "left",
    dispensable: 5,
    cell: ({ row }) => (row.model === "" ? "-" : safeLine(row.model)),
  },
  { head: "TOK/MIN", columns: 8, align: "right", dispensable: 2, cell: ({ rate }) => String(rate) },
  { head: "TOKENS", columns: 8, align: "right", dispensable: 1, cell: ({ row }) => String(row.tokens_used) },
  {
    head: "COST",
    columns: 8,
    narrow: 7,
    align: "right",
    dispensable: 0,
    cell: ({ row }) => costCell(row.cost_usd ?? 0, row.unpriced_calls),
  },
  {
    head: "SUBTREE",
    columns: 8,
    align: "right",
    dispensable: 4,
    cell: ({ subtreeUsd, subtreeUnpriced }) => costCell(subtreeUsd, subtreeUnpriced),
  },
  { head: "CHILD", columns: 5, align: "right", dispensable: 4, cell: ({ children }) => String(children) },
  { head: "AGE", columns: 8, align: "right", dispensable: 3, cell: ({ row }) => seconds(row.elapsed_ms) },
];

/** `slot 12s`, or in the room of one cell `#3 12s` where its place in the queue is known. */
function queueWord({ slot }: TopRow["row"]): string | undefined {
  return slot?.place === undefined
    ? slotWord({ slot })
    : `#${slot.place} ${Math.floor(slot.waited_ms / 1000)}s`;
}

/** Two lines: what the processes do, and what the daemon uses. */
export function topHead(snapshot: Snapshot, shown: readonly TopRow[]): string[] {
  const rate = shown.reduce((sum, row) => sum + row.rate, 0);
  return [`${stateLine(shown)} | ${rate} tokens/min`, metricsLine(snapshot.metrics)];
}

/** A table for a terminal of this width; without one, with every column and the intent cut as in `ps`. */
export class TopTable {
  readonly #columns: readonly TopColumn[];
  readonly #intentColumns: number;

  constructor(width?: number) {
    this.#columns = width === undefined ? COLUMNS : fitting(width);
    const left = width === undefined ? INTENT_COLUMNS : width - widthOfAll(this.#columns);
    this.#intentColumns = left < LEAST_INTENT_COLUMNS ? 0 : left;
  }

  head(): string {
    return this.#line(
      this.#columns.map(({ head }) => head),
      "INTENT",
    );
  }

  row(row: TopRow): string {
    return this.#line(
      this.#columns.map((column) => column.cell(row)),
      intentCell(`${modeWord(row.row)}${taskOf(row.row)}`, this.#intentColumns),
    );
  }

  #line(cells: readonly string[], intent: string): string {
    const fixed = this.#columns.map(({ columns, align }, at) =>
      aligned(cutToWidth(cells[at] ?? "", columns), columns, align),
    );
    const last = this.#intentColumns === 0 ? [] : [cutToWidth(intent, this.#intentColumns)];
    return [...fixed, ...last].join(GAP).trimEnd();
  }
}

function fitting(width: number): readonly TopColumn[] {
  const needed = width - MIN_INTENT_COLUMNS;
  for (let kept = 6; kept >= 0; kept--) {
    const columns = COLUMNS.filter(({ dispensable }) => dispensable <= kept);
    if (widthOfAll(columns) <= needed) return columns;
  }
  return COLUMNS.filter(({ dispensable }) => dispensable === 0).map((column) => ({
    ...column,
    columns: column.narrow ?? column.columns,
  }));
}

/** Each column with the gap after it. */
function widthOfAll(columns: readonly TopColumn[]): number {
  return columns.reduce((sum, column) => sum + column.columns + GAP.length, 0);
}

function stateLine(rows: readonly TopRow[]): string {
  const states = counted(rows.map(({ row }) => row.state));
  const activities = counted(rows.flatMap(({ row }) => (row.state === "running" ? activityOf(row) : [])));
  const words = ["created", "running", "zombie", "dead"].flatMap((state) => {
    const count = states.get(state) ?? 0;
    if (count === 0) return [];
    const doing = state === "running" && activities.size > 0 ? ` (${listed(activities)})` : "";
    return [`${count} ${state}${doing}`];
  });
  return [
    `${rows.length} ${rows.length === 1 ? "process" : "processes"}`,
    ...(words.length === 0 ? [] : [words.join(", ")]),
  ].join(": ");
}

function activityOf({ activity, slot }: TopRow["row"]): readonly string[] {
  if (slot !== undefined) return ["waiting for a slot"];
  return activity === null ? [] : [activity];
}

function listed(counts: ReadonlyMap<string, number>): string {
  return [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([word, count]) => `${count} ${word}`)
    .join(", ");
}

function counted(words: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

function metricsLine(metrics: Result<"kernel.metrics">): string {
  const { rss_bytes, heap_bytes, loop_lag_ms, os_children, connections, uptime_ms } = metrics;
  return [
    `memory ${megabytes(rss_bytes)}, heap ${megabytes(heap_bytes)}`,
    `loop lag ${loop_lag_ms.toFixed(1)}ms in 10s`,
    `OS children ${os_children}`,
    `connections ${connections}`,
    `up ${seconds(uptime_ms)}`,
  ].join(" | ");
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
