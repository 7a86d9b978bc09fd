/** Limits agents that start agents, so that this comes to an end: by depth, in total, and by how many wait to begin. */
import { createHash } from "node:crypto";
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
  /** Only those of the last 24 hours count. */
  readonly isOfDay?: true;
}

/** How many agents of a tree wait to begin (admission.ts). */
interface Queues {
  readonly admission: { waitingIn(account: Account): number };
}

/**
 * BUDGET: an agent, or a program of the host, may not start another agent. The user, and supervisors that the user
 * started, are limited only by the process table. Beyond what may run at once, a new agent waits.
 */
export function checkSpawn(core: Accounting & Queues, parent: Payer, task: Task | null): void {
  if (isPersons(parent)) return;
  const bounds = [...boundsOf(core, parent), ...(task === null ? [] : [sameTask(core, parent, task)])];
  for (const bound of bounds) if (bound.used >= bound.limit) throw refused(parent, bound);
  if (task !== null) TASKS.get(parent)?.note(keyOf(task), core.ports.clock.mono());
}

/** What a model gives to another agent. */
interface Task {
  readonly intent: string;
  readonly body: { readonly name: string };
}

const SAME_MS = 600_000;

/** When a process gave each of its latest tasks, monotonic. Bounded: the task that was given longest ago is forgotten. */
class GivenTasks {
  readonly #times = new Map<string, readonly number[]>();

  since(key: string, at: number): number {
    return (this.#times.get(key) ?? []).filter((time) => time > at).length;
  }

  note(key: string, now: number): void {
    const times = (this.#times.get(key) ?? []).filter((time) => time > now - SAME_MS);
    this.#times.delete(key);
    this.#times.set(key, [...times, now]);
    const [oldest] = this.#times.keys();
    if (this.#times.size > LIMITS.tasksTold && oldest !== undefined) this.#times.delete(oldest);
  }
}

const TASKS = new WeakMap<Payer, GivenTasks>();

/** A model that repeats itself starts the same again and again; it costs as much as work does. */
function sameTask(core: Accounting, parent: Payer, task: Task): Bound {
  const given = TASKS.get(parent) ?? new GivenTasks();
  TASKS.set(parent, given);
  const { sameTask: limit = LIMITS.sameTasks } = core.ports.budget?.().agents ?? {};
  const used = given.since(keyOf(task), core.ports.clock.mono() - SAME_MS);
  return { account: parent.seed.account, unit: "same", limit, used };
}

function keyOf({ intent, body }: Task): string {
  return createHash("sha256").update(`${body.name}\n${intent}`).digest("base64");
}

/** Counts a new agent in all accounts above it, from its entry in the table on. The result undoes that. */
export function countSpawn(core: Accounting, parent: Payer): () => void {
  const above = isCounted(parent) ? parent.seed.account.chain() : [];
  const top = topOf(parent.seed.account);
  const add = (n: number): void => {
    for (const account of above) account.children += n;
    if (above.includes(top)) top.started.spend(n, core.ports.clock.now());
  };
  add(1);
  return () => add(-1);
}

/** Records to be appended together with that of the spawn, so that the agent counts after a restart, too. */
export function countDrafts(core: Accounting, parent: Payer): readonly JournalDraft[] {
  if (!isCounted(parent)) return [];
  const top = topOf(parent.seed.account);
  const counted = parent.seed.account
    .chain()
    .filter((account) => account === top || account.limits.children !== undefined);
  return counted.flatMap((account) => useDraft(account, core.ports.clock.mono()) ?? []);
}

function* boundsOf(core: Accounting & Queues, parent: Payer): Generator<Bound> {
  const own = parent.seed.account;
  const { queue = LIMITS.agentQueue, perDay = LIMITS.agentSpawns } = core.ports.budget?.().agents ?? {};
  const now = core.ports.clock.now();
  const depth = own.depth + 1;
  const top = topOf(own);
  if (top.limits.depth === undefined)
    yield { account: top, unit: "depth", limit: LIMITS.agentDepth, used: depth - 1 };
  for (const account of own.chain()) {
    const { limits, depth: at } = account;
    if (limits.depth !== undefined)
      yield { account, unit: "depth", limit: limits.depth, used: depth - 1 - at };
    if (limits.children !== undefined && isCounted(parent))
      yield { account, unit: "children", limit: limits.children, used: account.children };
    // nothing would ever end so that it could begin
    if (limits.concurrent === 0) yield { account, unit: "concurrent", limit: 0, used: 0 };
  }
  if (top.limits.children === undefined && isCounted(parent))
    yield { account: top, unit: "children", limit: perDay, used: top.started.spent(now), isOfDay: true };
  yield { account: top, unit: "queue", limit: Math.max(1, queue), used: core.admission.waitingIn(own) };
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
  same: "the same task for the same agent within ten minutes",
};

/** What the agent can do itself. */
const ADVICE: Partial<Record<BudgetUnit, string>> = {
  depth: "do this work yourself instead of starting an agent",
  children: "finish with the agents that were started",
  concurrent: "do this work yourself instead of starting an agent",
  queue: "wait until some of them have ended before you start more",
  same: "read what it said, then change the task or do the work yourself",
};

/** Limits that are settings, not part of a budget. */
const SETTINGS: Partial<Record<BudgetUnit, string>> = {
  queue: "agents.limits.queue in settings.json",
  same: "agents.limits.sameTask in settings.json",
};

function refused({ pid }: Payer, { account, unit, limit, used, isOfDay }: Bound): SyscallError {
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
  const message = `budget exceeded${whose}: ${WORDS[unit] ?? unit}${isOfDay === true ? " within 24 hours" : ""}: limit ${limit}, used ${used}; ${ADVICE[unit] ?? ""}`;
  const refusal = { syscall: "Spawn", pid, code: "BUDGET", message } as const;
  const raise = SETTINGS[unit];
  if (raise !== undefined) return new SyscallError({ ...refusal, details: { ...details, raise } });
  const fact = { kind: "limit_reached", pid: of, unit, need: used + 1 } as const;
  return new SyscallError({ ...refusal, fact, details });
}
