/** The account of a process that has ended, or rests and is not in memory, and those below it, from the journal. */
import type { Amounts } from "../../abi/budget.ts";
import { PID_KERNEL, type Pid } from "../../abi/ids.ts";
import { type EndedProcess, type EndSearch, endOfRow } from "../facts/ended.ts";
import type { BudgetView } from "../ports/budgets.ts";
import type { ProcessRow } from "../ports/journal.ts";
import { NOTHING } from "./amounts.ts";
import { type KeptAccount, type LimitsAtSpawn, limitsAtSpawn, readKept } from "./kept-account.ts";
import { MOST_OF_TREE, spentInTree } from "./tree-spent.ts";

interface Gone {
  readonly row: ProcessRow;
  /** undefined: it rests. */
  readonly end: EndedProcess | undefined;
  readonly kept: KeptAccount;
}

/** Parents first. Empty: there never was such a process. */
export async function goneViews(core: EndSearch, pid: Pid): Promise<readonly BudgetView[]> {
  const { journal } = core.ports;
  const uuid = await journal.processOf(pid);
  const root = uuid === undefined ? undefined : await journal.row(uuid);
  if (root === undefined || pid === PID_KERNEL) return [];
  const below = await journal.rows({
    tree: pid,
    before: Number.MAX_SAFE_INTEGER,
    limit: MOST_OF_TREE,
  });
  const rows = [root, ...below.filter(({ proc }) => proc !== root.proc).reverse()];
  const found: Gone[] = [];
  for (const row of rows.filter((each) => hasAccount(each) || each === root))
    found.push({ row, end: await endOfRow(core, row), kept: await keptOf(core, row) });
  // an account under a limit kept its own sum, also of what was removed since
  const spent = spentInTree(
    found.map((each) => ({ ...each.row, own: ownOf(each), atLeast: each.kept.spent })),
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

function ownOf({ row, end }: Gone): Amounts {
  const { tokensUsed: tokens, microUsdUsed: microUsd } = end ?? row;
  return { tokens, microUsd: microUsd ?? 0, steps: 0 };
}

function viewOf(gone: Gone, spent: Amounts): BudgetView {
  const { limits, children, workedMs } = gone.kept;
  const { pid, ppid, name, kind, intent } = gone.row;
  const left = (limit: number | undefined, used: number) =>
    limit === undefined ? null : Math.max(0, limit - used);
  return {
    ...{ pid, ppid, name, kind, intent },
    isLive: false,
    limits,
    own: ownOf(gone),
    unpricedCalls: gone.end?.unpricedCalls ?? 0,
    spent,
    reserved: NOTHING,
    workedMs,
    children,
    running: 0,
    left: { tokens: left(limits.tokens, spent.tokens), microUsd: left(limits.microUsd, spent.microUsd) },
  };
}
