/** Limits agents that start agents, so that this comes to an end: by depth, in total, and at once. */
import type { BudgetRefusal, BudgetUnit } from "../../abi/budget.ts";
import { SyscallError } from "../../abi/errors.ts";
import { PID_KERNEL } from "../../abi/ids.ts";
import { LIMITS } from "../limits.ts";
import type { JournalDraft } from "../ports/journal.ts";
import type { Account } from "./account.ts";
import type { Accounting, Payer } from "./accounting.ts";
import { useDraft } from "./kept-account.ts";

interface Bound {
  readonly account: Account;
  readonly unit: BudgetUnit;
  readonly limit: number;
  readonly used: number;
}

/**
 * BUDGET: an agent, or a program of the host, may not start another agent now. The user, and supervisors that the user
 * started, are limited only by the process table.
 */
export function checkSpawn(core: Accounting, parent: Payer): void {
  if (isPersons(parent)) return;
  for (const bound of boundsOf(core, parent)) if (bound.used >= bound.limit) throw refused(parent, bound);
}

/** Counts a new agent in all accounts above it, from its entry in the table on. The result undoes that. */
export function countSpawn(parent: Payer): () => void {
  const above = isCounted(parent) ? parent.seed.account.chain() : [];
  for (const account of above) account.children++;
  return () => {
    for (const account of above) account.children--;
  };
}

/** Records to be appended together with that of the spawn, so that the agent counts after a restart, too. */
export function countDrafts(core: Accounting, parent: Payer): readonly JournalDraft[] {
  if (!isCounted(parent)) return [];
  const top = topOf(parent.seed.account);
  const counted = parent.seed.account.chain().filter((account) => childrenLimit(account, top) !== undefined);
  return counted.flatMap((account) => useDraft(account, core.ports.clock.mono()) ?? []);
}

function* boundsOf(core: Accounting, parent: Payer): Generator<Bound> {
  const own = parent.seed.account;
  const { children = LIMITS.agentChildren, kernel = LIMITS.agents } = core.ports.budget?.().agents ?? {};
  const depth = own.depth + 1;
  const top = topOf(own);
  if (top.limits.depth === undefined)
    yield { account: top, unit: "depth", limit: LIMITS.agentDepth, used: depth - 1 };
  const live = liveAgents(core);
  const counts = isCounted(parent);
  if (counts)
    yield {
      account: own,
      unit: "concurrent",
      limit: own.limits.concurrent ?? children,
      used: childrenOf(live, parent),
    };
  for (const account of own.chain()) {
    const { limits, depth: at } = account;
    if (limits.depth !== undefined)
      yield { account, unit: "depth", limit: limits.depth, used: depth - 1 - at };
    const most = childrenLimit(account, top);
    if (most !== undefined && counts)
      yield { account, unit: "children", limit: most, used: account.children };
    const atOnce = limits.concurrent ?? (account === top ? LIMITS.agentTree : undefined);
    if (atOnce !== undefined)
      yield { account, unit: "concurrent", limit: atOnce, used: below(live, account) };
  }
  yield { account: own, unit: "concurrent", limit: kernel, used: live.length };
}

/** The limit on agents started in total; the top account always has one. */
function childrenLimit(account: Account, top: Account): number | undefined {
  return account.limits.children ?? (account === top ? LIMITS.agentSpawns : undefined);
}

/** The account of the topmost agent; for a program of the user that starts agents, its own. */
function topOf(own: Account): Account {
  return own.chain().find(({ isTop }) => isTop) ?? own;
}

/** Restarts by a supervisor do not count as new agents. */
function isCounted({ seed }: Payer): boolean {
  return seed.kind === "agent" || seed.kind === "native";
}

function isPersons({ pid, seed }: Payer): boolean {
  if (pid !== PID_KERNEL && seed.kind !== "supervisor") return false;
  return seed.account.chain().every(({ givesAll }) => givesAll);
}

function liveAgents(core: Accounting): readonly Payer[] {
  return [...core.table.all()].filter(({ isLive, seed }) => isLive && seed.kind === "agent");
}

function childrenOf(live: readonly Payer[], { pid }: Payer): number {
  return live.filter(({ ppid }) => ppid === pid).length;
}

function below(live: readonly Payer[], account: Account): number {
  return live.filter(({ seed }) => seed.account !== account && seed.account.chain().includes(account)).length;
}

const WORDS: Partial<Record<BudgetUnit, string>> = {
  depth: "levels of agents below",
  children: "agents started below",
  concurrent: "agents below that run at once",
};

function refused({ pid }: Payer, { account, unit, limit, used }: Bound): SyscallError {
  const of = account.owner?.pid ?? 0;
  const details: BudgetRefusal = {
    account: of,
    unit,
    limit,
    used,
    reserved: 0,
    asked: 1,
    retryable: false,
  };
  const whose = of === pid ? "" : ` of process ${of}`;
  const message = `budget exceeded${whose}: ${WORDS[unit] ?? unit}: limit ${limit}, used ${used}`;
  const fact = { kind: "limit_reached", pid: of, unit, need: used + 1 } as const;
  return new SyscallError({ syscall: "Spawn", pid, code: "BUDGET", message, fact, details });
}
