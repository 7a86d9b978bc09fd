/** Summarizes costs by key, from the records of calls alone. */
import type { Charge } from "../../abi/effects.ts";
import { codeOf } from "../../abi/errors.ts";
import { PID_KERNEL, type ProcUuid } from "../../abi/ids.ts";
import { localDay } from "../../lib/local-day.ts";
import { microUsd } from "../../lib/usd.ts";
import type { CostKey, CostLine } from "../ports/budgets.ts";
import type { Journal, JournalRecord, ProcessRow } from "../ports/journal.ts";

/** The largest number of process rows that are read; more are cut. */
const PROCESSES = 1_000;
const PAGE = 256;

type Sums = Map<string, { calls: number; tokens: number; microUsd: number; unpriced: number }>;

export async function costsOf(
  journal: Journal,
  by: CostKey,
  since: number,
): Promise<{ lines: readonly CostLine[]; isCut: boolean }> {
  // also counts records not synced yet; a disk that refuses writes does not prevent reading
  await journal.sync().catch(() => {});
  const rows = await journal.rows({ limit: PROCESSES });
  const kinds = new Map(rows.map((row) => [Number(row.pid), row.kind]));
  const sums: Sums = new Map();
  for (const row of rows)
    for await (const spent of spentBy(journal, row, since)) add(sums, keyOf(by, spent, kinds), spent.cost);
  const lines = [...sums].map(([key, sum]) => ({ key, ...sum }));
  const order = by === "day" ? byKey : byCost;
  return { lines: lines.sort(order), isCut: rows.length === PROCESSES };
}

/** What a process has spent since then, call by call. */
async function* spentBy(journal: Journal, row: ProcessRow, since: number): AsyncGenerator<Spent> {
  if (row.lastAt < since) return;
  const tools = new Map<string, string>();
  for await (const record of historyOf(journal, row.proc)) {
    const { kind, call = "", body, at } = record;
    if (kind === "call.intent") tools.set(call, String((body as { tool?: unknown }).tool ?? ""));
    if (kind !== "call.result" && kind !== "call.unknown") continue;
    const { cost } = (body ?? {}) as { cost?: Charge };
    const tool = tools.get(call) ?? "";
    tools.delete(call);
    if (cost === undefined || cost.tokens === 0 || at < since) continue;
    yield { row, cost, tool, at };
  }
}

/** The records of a process; a damaged history is read up to the damage. */
async function* historyOf(journal: Journal, proc: ProcUuid): AsyncGenerator<JournalRecord> {
  for (let from = 1; ; ) {
    const page = await journal.read(proc, from, PAGE).catch((error: unknown): readonly JournalRecord[] => {
      if (codeOf(error) === "INTERNAL") return [];
      throw error;
    });
    const last = page.at(-1);
    if (last === undefined) return;
    yield* page;
    from = last.seq + 1;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

interface Spent {
  readonly row: ProcessRow;
  readonly cost: Charge;
  readonly tool: string;
  readonly at: number;
}

function keyOf(by: CostKey, { row, cost, tool, at }: Spent, kinds: ReadonlyMap<number, string>): string {
  switch (by) {
    case "pid":
      return `${row.pid}`;
    case "model":
      return cost.model ?? "?";
    case "tool":
      return cost.purpose === undefined || cost.purpose === "main"
        ? tool || "?"
        : `${tool} (${cost.purpose})`;
    case "source":
      return sourceOf(row, kinds);
    case "day":
      return localDay(at);
  }
}

/** The kind of parent that started the process: the user, another agent, a supervisor. */
function sourceOf({ ppid }: ProcessRow, kinds: ReadonlyMap<number, string>): string {
  if (ppid === PID_KERNEL) return "person";
  return kinds.get(ppid) ?? "agent";
}

function add(sums: Sums, key: string, { tokens, usd }: Charge): void {
  const sum = sums.get(key) ?? { calls: 0, tokens: 0, microUsd: 0, unpriced: 0 };
  sums.set(key, {
    calls: sum.calls + 1,
    tokens: sum.tokens + tokens,
    microUsd: sum.microUsd + microUsd(usd ?? 0),
    unpriced: sum.unpriced + (usd === null ? 1 : 0),
  });
}

function byKey(a: CostLine, b: CostLine): number {
  return a.key < b.key ? -1 : 1;
}

function byCost(a: CostLine, b: CostLine): number {
  return b.microUsd - a.microUsd || b.tokens - a.tokens || byKey(a, b);
}
