/** The rows of `crux top` in display order. */
import type { Result } from "../../../abi/methods/methods.ts";
import type { WireRow } from "../../../abi/methods/process.ts";
import { forest } from "../table/forest.ts";
import { isShown, type Role, rolesOf, subtreeCosts } from "../table/roles.ts";

export const SORTS = ["rate", "tokens", "cost", "age", "pid", "name", "children"] as const;
export type Sort = (typeof SORTS)[number];

/** The state of the daemon at one time. */
export interface Snapshot {
  readonly rows: readonly WireRow[];
  /** Tokens per minute, by pid. */
  readonly rates: ReadonlyMap<number, number>;
  readonly metrics: Result<"kernel.metrics">;
}

export interface TopRow {
  readonly row: WireRow;
  readonly rate: number;
  readonly children: number;
  readonly role: Role;
  /** What it costs with all below it, in US dollars. */
  readonly subtreeUsd: number;
  /** Calls without a known price in its subtree. */
  readonly subtreeUnpriced: number;
  /** The tree lines before the name, in tree order. */
  readonly prefix: string;
}

export interface Arrangement {
  readonly sort: Sort;
  readonly isTree: boolean;
  /** Whether services and internal forks are shown too. */
  readonly showsAll: boolean;
  /** Shows rows that contain it anywhere, ignoring case; "" shows all. */
  readonly filter: string;
}

export function arrange({ rows, rates }: Snapshot, how: Arrangement): TopRow[] {
  const shown = how.showsAll ? rows : rows.filter(isShown);
  const counts = new Map<number, number>();
  for (const { ppid } of shown) counts.set(ppid, (counts.get(ppid) ?? 0) + 1);
  const [roles, costs] = [rolesOf(rows), subtreeCosts(rows)];
  const toTop = (row: WireRow, prefix: string): TopRow => ({
    row,
    rate: rates.get(row.pid) ?? 0,
    children: counts.get(row.pid) ?? 0,
    role: roles.get(row.pid) ?? "main",
    subtreeUsd: costs.get(row.pid)?.subtreeUsd ?? 0,
    subtreeUnpriced: costs.get(row.pid)?.subtreeUnpriced ?? 0,
    prefix,
  });
  const sorted = matching(shown, how.filter)
    .map((row) => toTop(row, ""))
    .sort((a, b) => ORDERS[how.sort](a, b) || a.row.pid - b.row.pid);
  if (!how.isTree) return sorted;
  const branches = forest(sorted.map(({ row }) => row));
  return branches.map(({ row, prefix }) => toTop(row, prefix));
}

const ORDERS: Readonly<Record<Sort, (a: TopRow, b: TopRow) => number>> = {
  rate: (a, b) => b.rate - a.rate,
  tokens: (a, b) => b.row.tokens_used - a.row.tokens_used,
  cost: (a, b) => (b.row.cost_usd ?? 0) - (a.row.cost_usd ?? 0),
  age: (a, b) => b.row.elapsed_ms - a.row.elapsed_ms,
  pid: () => 0,
  name: (a, b) => (a.row.name < b.row.name ? -1 : Number(a.row.name > b.row.name)),
  children: (a, b) => b.children - a.children,
};

function matching(rows: readonly WireRow[], filter: string): WireRow[] {
  const wanted = filter.toLowerCase();
  if (wanted === "") return [...rows];
  return rows.filter(({ pid, name, kind, state, activity, model, intent }) =>
    [String(pid), name, kind, state, activity ?? "", model, intent].some((text) =>
      text.toLowerCase().includes(wanted),
    ),
  );
}
