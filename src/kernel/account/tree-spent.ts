/** What processes have spent together with all below them, from what each has spent by its own calls. */
import type { Amounts } from "../../abi/budget.ts";
import type { Pid } from "../../abi/ids.ts";
import type { Journal, ProcessRow } from "../ports/journal.ts";
import { NOTHING, plus } from "./amounts.ts";

/** The most processes of one tree: of a larger one the newest are counted. */
export const MOST_OF_TREE = 1_000;

interface Spender {
  readonly pid: Pid;
  readonly ppid: Pid;
  readonly own: Amounts;
  /** What is known of it and all below it. */
  readonly atLeast?: Amounts;
}

/** `spenders`: parents first. */
export function spentInTree(spenders: readonly Spender[]): ReadonlyMap<Pid, Amounts> {
  const spent = new Map(spenders.map(({ pid, own }) => [pid, own]));
  for (const { pid, ppid, atLeast = NOTHING } of spenders.toReversed()) {
    const all = most(spent.get(pid) ?? NOTHING, atLeast);
    spent.set(pid, all);
    const above = spent.get(ppid);
    if (above !== undefined && ppid !== pid) spent.set(ppid, plus(above, all));
  }
  return spent;
}

/** By the rows of this process and all that it ever had below it, whether they have ended or not. */
export async function recordedInTree(
  journal: Pick<Journal, "rows">,
  pid: Pid,
): Promise<ReadonlyMap<Pid, Amounts>> {
  const page = { before: Number.MAX_SAFE_INTEGER, limit: MOST_OF_TREE };
  const rows = await journal.rows({ tree: pid, ...page });
  return spentInTree(rows.toReversed().map((row) => ({ pid: row.pid, ppid: row.ppid, own: ownOf(row) })));
}

function ownOf({ tokensUsed: tokens, microUsdUsed }: ProcessRow): Amounts {
  return { tokens, microUsd: microUsdUsed ?? 0, steps: 0 };
}

export function most(a: Amounts, b: Amounts): Amounts {
  return {
    tokens: Math.max(a.tokens, b.tokens),
    microUsd: Math.max(a.microUsd, b.microUsd),
    steps: Math.max(a.steps, b.steps),
  };
}
