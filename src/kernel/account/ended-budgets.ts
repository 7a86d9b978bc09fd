/** The account of a process that has ended, and those below it, from the journal. */
import type { Amounts } from "../../abi/budget.ts";
import { PID_KERNEL, type Pid } from "../../abi/ids.ts";
import { type EndedProcess, type EndSearch, endOfRow } from "../facts/ended.ts";
import type { BudgetView } from "../ports/budgets.ts";
import type { ProcessRow } from "../ports/journal.ts";
import { NOTHING } from "./amounts.ts";
import { type KeptAccount, type LimitsAtSpawn, limitsAtSpawn, readKept } from "./kept-account.ts";
import { MOST_OF_TREE, spentInTree } from "./tree-spent.ts";

interface Ended {
  readonly row: ProcessRow;
  readonly end: EndedProcess;
  readonly kept: KeptAccount;
}

/** Parents first. Empty: no such process has ended. */
export async function endedViews(core: EndSearch, pid: Pid): Promise<readonly BudgetView[]> {
  const { journal } = core.ports;
  const uuid = await journal.processOf(pid);
  const root = uuid === undefined ? undefined : await journal.row(uuid);
  if (root === undefined || pid === PID_KERNEL) return [];
  const below = await journal.rows({
    tree: pid,
    live: false,
    before: Number.MAX_SAFE_INTEGER,
    limit: MOST_OF_TREE,
  });
  const rows = [root, ...below.filter(({ proc }) => proc !== root.proc).reverse()];
  const found: Ended[] = [];
  for (const row of rows) {
    const end = hasAccount(row) || row === root ? await endOfRow(core, row) : undefined;
    if (end !== undefined) found.push({ row, end, kept: await keptOf(core, row) });
    else if (row === root) return [];
  }
  // an account under a limit kept its own sum, also of what was removed since
  const spent = spentInTree(
    found.map(({ row, end, kept }) => ({ ...row, own: ownOf(end), atLeast: kept.spent })),
  );
  return found.map((each) => viewOf(each, spent.get(each.row.pid) ?? NOTHING));
}

function hasAccount({ kind }: ProcessRow): boolean {
  return kind === "agent" || kind === "supervisor";
}

async function keptOf({ ports: { journal } }: EndSearch, row: ProcessRow): Promise<KeptAccount> {
  const [spawned] = await journal.ofKind(row.proc, "process.spawned");
  const limits = limitsAtSpawn((spawned?.body ?? {}) as LimitsAtSpawn);
  return readKept(journal, { proc: row.proc, limits }, row);
}

function ownOf({ tokensUsed: tokens, microUsdUsed: microUsd = 0 }: EndedProcess): Amounts {
  return { tokens, microUsd, steps: 0 };
}

function viewOf({ row, end, kept: { limits, children, workedMs } }: Ended, spent: Amounts): BudgetView {
  const { pid, ppid, name, kind, intent } = row;
  const left = (limit: number | undefined, used: number) =>
    limit === undefined ? null : Math.max(0, limit - used);
  return {
    ...{ pid, ppid, name, kind, intent },
    isLive: false,
    limits,
    own: ownOf(end),
    unpricedCalls: end.unpricedCalls ?? 0,
    spent,
    reserved: NOTHING,
    workedMs,
    children,
    running: 0,
    left: { tokens: left(limits.tokens, spent.tokens), microUsd: left(limits.microUsd, spent.microUsd) },
  };
}
