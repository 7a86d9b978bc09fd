/** Summarizes costs by key, from the records of calls alone. */
import type { Charge } from "../../abi/effects.ts";
import { codeOf, Fault } from "../../abi/errors.ts";
import { PID_KERNEL, type Pid, type ProcUuid } from "../../abi/ids.ts";
import { localDay } from "../../lib/time/local-day.ts";
import { microUsd } from "../../lib/usd.ts";
import { recordsOf } from "../facts/records.ts";
import type { CostKey, CostLine } from "../ports/budgets.ts";
import type { Journal, JournalRecord, ProcessRow } from "../ports/journal.ts";

/** The largest number of process rows that are read; more are cut. */
const PROCESSES = 1_000;

/** Calls that are listed one by one; beyond, the newest. */
const CALLS = 1_000;

type Sum = Omit<CostLine, "key">;
type Sums = Map<string, Sum>;

interface CostQuery {
  readonly by: CostKey;
  /** Wall clock, ms. */
  readonly since: number;
  /** Only this process and all below it. */
  readonly tree: Pid | undefined;
}

export async function costsOf(
  journal: Journal,
  { by, since, tree }: CostQuery,
): Promise<{ lines: readonly CostLine[]; isCut: boolean }> {
  // also counts records not synced yet; a disk that refuses writes does not prevent reading
  await journal.sync().catch(() => {});
  const rows = await journal.rows({ limit: PROCESSES, ...(tree === undefined ? {} : { tree }) });
  if (tree !== undefined && rows.length === 0)
    throw new Fault({
      code: "NOT_FOUND",
      message: `process not found: ${tree}`,
      fact: { kind: "no_history", pid: tree },
    });
  const byPid = new Map(rows.map((row) => [Number(row.pid), row]));
  const sums: Sums = new Map();
  for (const row of rows)
    for await (const spent of spentBy(journal, row, since))
      for (const key of keysOf(by, spent, byPid)) add(sums, key, spent.cost);
  const lines = [...sums].map(([key, sum]) => ({ key, ...sum })).sort(ORDERS[by] ?? byCost);
  const isCut = rows.length === PROCESSES || (by === "call" && lines.length > CALLS);
  return { lines: by === "call" ? lines.slice(-CALLS) : lines, isCut };
}

/** What a process has spent since then, call by call. */
async function* spentBy(journal: Journal, row: ProcessRow, since: number): AsyncGenerator<Spent> {
  if (row.lastAt < since) return;
  const tools = new Map<string, string>();
  for await (const record of historyOf(journal, row.proc)) {
    const { kind, call = "", body, at, seq } = record;
    if (kind === "call.intent") tools.set(call, String((body as { tool?: unknown }).tool ?? ""));
    if (kind !== "call.result" && kind !== "call.unknown") continue;
    const { cost } = (body ?? {}) as { cost?: Charge };
    const tool = tools.get(call) ?? "";
    tools.delete(call);
    if (cost === undefined || cost.tokens === 0 || at < since) continue;
    yield { row, cost, tool, at, seq };
  }
}

/** The records of a process; a damaged history is read up to the damage. */
async function* historyOf(journal: Journal, proc: ProcUuid): AsyncGenerator<JournalRecord> {
  try {
    yield* recordsOf(journal, proc);
  } catch (error) {
    if (codeOf(error) !== "INTERNAL") throw error;
  }
}

interface Spent {
  readonly row: ProcessRow;
  readonly cost: Charge;
  readonly tool: string;
  readonly at: number;
  readonly seq: number;
}

type Rows = ReadonlyMap<number, ProcessRow>;

/** A call counts for its process and, by subtree, for all above it. */
function keysOf(by: CostKey, spent: Spent, rows: Rows): readonly string[] {
  if (by !== "subtree") return [keyOf(by, spent, rows)];
  const line: string[] = [];
  for (let row: ProcessRow | undefined = spent.row; row !== undefined; row = rows.get(row.ppid)) {
    if (row.pid === PID_KERNEL || line.includes(`${row.pid}`)) break;
    line.push(`${row.pid}`);
  }
  return line;
}

function keyOf(by: Exclude<CostKey, "subtree">, { row, cost, tool, at, seq }: Spent, rows: Rows): string {
  switch (by) {
    case "call":
      return `${new Date(at).toISOString()} ${row.pid}.${seq} ${cost.model ?? "?"}`;
    case "pid":
      return `${row.pid}`;
    case "model":
      return cost.model ?? "?";
    case "tool":
      return cost.purpose === undefined || cost.purpose === "main"
        ? tool || "?"
        : `${tool} (${cost.purpose})`;
    case "source":
      return sourceOf(row, rows);
    case "day":
      return localDay(at);
  }
}

/** The kind of parent that started the process: the user, another agent, a supervisor. */
function sourceOf({ ppid }: ProcessRow, rows: Rows): string {
  if (ppid === PID_KERNEL) return "person";
  return rows.get(ppid)?.kind ?? "agent";
}

const NOTHING: Sum = {
  ...{ calls: 0, tokens: 0, input: 0, written: 0, cached: 0, output: 0, thinking: 0 },
  ...{ microUsd: 0, unpriced: 0 },
};

function add(sums: Sums, key: string, { tokens, usd, usage }: Charge): void {
  const sum = sums.get(key) ?? NOTHING;
  const { cache_creation_input_tokens: written = 0, reasoning_tokens: thinking = 0 } = usage ?? {};
  sums.set(key, {
    calls: sum.calls + 1,
    tokens: sum.tokens + tokens,
    input: sum.input + (usage?.input_tokens ?? 0) + written,
    written: sum.written + written,
    cached: sum.cached + (usage?.cache_read_input_tokens ?? 0),
    output: sum.output + (usage?.output_tokens ?? 0),
    thinking: sum.thinking + thinking,
    microUsd: sum.microUsd + microUsd(usd ?? 0),
    unpriced: sum.unpriced + (usd === null ? 1 : 0),
  });
}

function byKey(a: CostLine, b: CostLine): number {
  return a.key < b.key ? -1 : 1;
}

/** By time; all others by cost. */
const ORDERS: Partial<Record<CostKey, typeof byKey>> = { day: byKey, call: byKey };

function byCost(a: CostLine, b: CostLine): number {
  return b.microUsd - a.microUsd || b.tokens - a.tokens || byKey(a, b);
}
