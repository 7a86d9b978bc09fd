/** Limits agents that start agents, so that this comes to an end: by depth, in total, and by how many wait to begin. */
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

/** How many agents of a tree wait to begin (admission.ts). */
interface Queues {
  readonly admission: { waitingIn(account: Account): number };
}

/**
 * BUDGET: an agent, or a program of the host, may not start another agent. The user, and supervisors that the user
 * started, are limited only by the process table. Beyond what may run at once, a new agent waits.
 */
export function checkSpawn(core: Accounting & Queues, parent: Payer): void {
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

function* boundsOf(core: Accounting & Queues, parent: Payer): Generator<Bound> {
  const own = parent.seed.account;
  const { queue = LIMITS.agentQueue } = core.ports.budget?.().agents ?? {};
  const depth = own.depth + 1;
  const top = topOf(own);
  if (top.limits.depth === undefined)
    yield { account: top, unit: "depth", limit: LIMITS.agentDepth, used: depth - 1 };
  for (const account of own.chain()) {
    const { limits, depth: at } = account;
    if (limits.depth !== undefined)
      yield { account, unit: "depth", limit: limits.depth, used: depth - 1 - at };
    const most = childrenLimit(account, top);
    if (most !== undefined && isCounted(parent))
      yield { account, unit: "children", limit: most, used: account.children };
    // nothing would ever end so that it could begin
    if (limits.concurrent === 0) yield { account, unit: "concurrent", limit: 0, used: 0 };
  }
  yield { account: top, unit: "queue", limit: Math.max(1, queue), used: core.admission.waitingIn(own) };
}

/** The limit on agents started in total; the top account always has one. */
function childrenLimit(account: Account, top: Account): number | undefined {
  return account.limits.children ?? (account === top ? LIMITS.agentSpawns : undefined);
}

/** The account of the topmost agent; for a program of the user that starts agents, its own. */
export function topOf(own: Account): Account {
  return own.chain().find(({ isTop }) => isTop) ?? own;
}

/** Restarts by a supervisor do not count as new agents. */
export function isCounted({ seed }: Payer): boolean {
  return seed.kind === "agent" || seed.kind === "native";
}

export function isPersons({ pid, seed }: Payer): boolean {
  if (pid !== PID_KERNEL && seed.kind !== "supervisor") return false;
  return seed.account.chain().every(({ givesAll }) => givesAll);
}

const WORDS: Partial<Record<BudgetUnit, string>> = {
  depth: "levels of agents below",
  children: "agents started below",
  concurrent: "agents below that run at once",
  queue: "agents below that wait to begin",
};

/** What the agent can do itself. */
const ADVICE: Partial<Record<BudgetUnit, string>> = {
  depth: "do this work yourself instead of starting an agent",
  children: "finish with the agents that were started",
  concurrent: "do this work yourself instead of starting an agent",
  queue: "wait until some of them have ended before you start more",
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
  const message = `budget exceeded${whose}: ${WORDS[unit] ?? unit}: limit ${limit}, used ${used}; ${ADVICE[unit] ?? ""}`;
  const refusal = { syscall: "Spawn", pid, code: "BUDGET", message } as const;
  // the length of the queue is a setting, not part of a budget
  if (unit === "queue")
    return new SyscallError({
      ...refusal,
      details: { ...details, raise: "agents.limits.queue in settings.json" },
    });
  const fact = { kind: "limit_reached", pid: of, unit, need: used + 1 } as const;
  return new SyscallError({ ...refusal, fact, details });
}
