/** Accounts as clients see them, and new limits set by the user. */

import type { Budget, BudgetLimits } from "../../abi/budget.ts";
import { Fault } from "../../abi/errors.ts";
import type { Fact } from "../../abi/fact.ts";
import { PID_KERNEL, type Pid } from "../../abi/ids.ts";
import type { BudgetChange, Budgets, BudgetView, WindowView } from "../ports/budgets.ts";
import type { Account } from "./account.ts";
import type { Accounting, Payer } from "./accounting.ts";
import { limitsOf, NOTHING } from "./amounts.ts";
import { costsOf } from "./costs.ts";
import { goneViews } from "./ended-budgets.ts";
import { type LimitsAtSpawn, limitsAtSpawn, readKept, useOfKept } from "./kept-account.ts";
import { openAccounts } from "./open-accounts.ts";
import { grantBody, setLimits } from "./set-limits.ts";

/** Agents that wait to begin may begin under new limits. */
interface Admitting extends Accounting {
  readonly admission: { check(): void };
}

export function makeBudgets(core: () => Admitting): Budgets {
  return {
    list: async (pid) => ({ processes: await listed(core(), pid), windows: windowsOf(core()) }),
    set: (pid, change) => set(core(), pid, change),
    costs: (by, since, tree) => costsOf(core().ports.journal, { by, since, tree }),
  };
}

async function listed(core: Accounting, pid: Pid | undefined): Promise<readonly BudgetView[]> {
  const all = withAccounts(core);
  const running = runningIn(all);
  if (pid === undefined || pid === PID_KERNEL) return all.map((proc) => viewOf(core, running, proc));
  const top = core.table.get(pid);
  if (top === undefined) {
    const gone = await goneViews(core, pid);
    if (gone.length === 0) throw notFound(pid);
    return gone;
  }
  const meant = all.filter(({ seed }) => seed.account.chain().includes(top.seed.account));
  return meant.map((proc) => viewOf(core, running, proc));
}

/** How many agents run in each account and below it. */
function runningIn(all: readonly Payer[]): ReadonlyMap<Account, number> {
  const counts = new Map<Account, number>();
  for (const proc of all.filter(runsAsAgent))
    for (const account of proc.seed.account.chain()) counts.set(account, (counts.get(account) ?? 0) + 1);
  return counts;
}

function runsAsAgent({ isLive, seed }: Payer): boolean {
  return isLive && seed.kind === "agent";
}

/** Agents and supervisors, and the processes between them: a program that starts agents connects the tree. */
function withAccounts(core: Accounting): readonly Payer[] {
  const all = [...core.table.all()];
  const isShown = ({ seed }: Payer) => seed.kind === "agent" || seed.kind === "supervisor";
  const above = new Set(all.filter(isShown).flatMap(({ seed }) => seed.account.chain()));
  return all.filter((proc) => isShown(proc) || (proc !== core.root && above.has(proc.seed.account)));
}

function viewOf(core: Accounting, running: ReadonlyMap<Account, number>, proc: Payer): BudgetView {
  const { pid, ppid, seed, used, isLive } = proc;
  const { account } = seed;
  const now = core.ports.clock.now();
  return {
    pid,
    ppid,
    name: seed.body.name,
    kind: seed.kind,
    intent: seed.intent,
    isLive,
    limits: account.limits,
    own: { tokens: used.tokens, microUsd: used.microUsd },
    unpricedCalls: used.unpricedCalls,
    spent: account.spent,
    reserved: account.reserved,
    workedMs: Math.round(account.work.ms(core.ports.clock.mono())),
    children: account.children,
    running: (running.get(account) ?? 0) - (runsAsAgent(proc) ? 1 : 0),
    left: {
      tokens: finite(account.headroom("tokens", now)),
      microUsd: finite(account.headroom("microUsd", now)),
    },
  };
}

function finite(amount: number): number | null {
  return Number.isFinite(amount) ? amount : null;
}

function windowsOf({ root, ports }: Accounting): readonly WindowView[] {
  const now = ports.clock.now();
  return root.seed.account.windows.map((window) => {
    const { unit, limit, perMs } = window;
    return { unit, limit, perMs, spent: window.spent(now) };
  });
}

async function set(core: Admitting, pid: Pid, change: BudgetChange): Promise<BudgetLimits> {
  if (pid === PID_KERNEL)
    throw invalid("the user's own limits are not those of a process", {
      hint: "they are budget.windows in settings.json",
    });
  core.journalWatch.check("Budget");
  const account = await inMemory(core, pid);
  if (account !== undefined) {
    const limits = changed(pid, account.limits, change);
    await setLimits(core, account, { limits, by: change.by });
    core.admission.check();
    return limits;
  }
  return setAtRest(core, pid, change);
}

/** The account in memory, if any: a process may have left while a call of it or of a descendant is in progress. */
async function inMemory(core: Accounting, pid: Pid): Promise<Account | undefined> {
  const proc = core.table.get(pid);
  if (proc !== undefined) return proc.seed.account;
  const uuid = await core.ports.journal.processOf(pid);
  if (uuid === undefined) throw notFound(pid);
  const below = [...core.table.all()].flatMap(({ seed }) => seed.account.chain());
  return openAccounts(core).get(uuid) ?? below.find(({ owner }) => owner?.proc === uuid);
}

/** Sets limits of a process that has ended or rests, by new records of its account. */
async function setAtRest(core: Accounting, pid: Pid, change: BudgetChange): Promise<BudgetLimits> {
  const { journal } = core.ports;
  const proc = await journal.processOf(pid);
  const row = proc === undefined ? undefined : await journal.row(proc);
  const [spawned] = proc === undefined ? [] : await journal.ofKind(proc, "process.spawned");
  if (proc === undefined || row === undefined || spawned === undefined) throw notFound(pid);
  const atSpawn = limitsAtSpawn(spawned.body as LimitsAtSpawn);
  const kept = await readKept(journal, { proc, limits: atSpawn }, row);
  const limits = changed(pid, kept.limits, change);
  const use = useOfKept({ ...kept, limits, isGranted: true }, NOTHING);
  const own = { proc, pid, v: 1 } as const;
  const drafts = [
    { ...own, kind: "acct.limit", body: grantBody(limits, change.by) },
    { ...own, kind: "acct.settle", body: { ...use, used: Math.max(use.used, row.tokensUsed) } },
  ] as const;
  await journal.append(drafts);
  // the process may have been restored meanwhile
  (await inMemory(core, pid))?.grant(limits);
  return limits;
}

function changed(pid: Pid, now: BudgetLimits, { set: wishes, add }: BudgetChange): BudgetLimits {
  const given = Object.entries(wishes).filter(([, value]) => value !== undefined);
  const wanted = Object.fromEntries(given.filter(([, value]) => value !== null)) as Budget;
  const dropped = new Set(
    given.filter(([, value]) => value === null).map(([name]) => LIMIT_OF[name] ?? name),
  );
  const kept = Object.fromEntries(Object.entries(now).filter(([name]) => !dropped.has(name)));
  const limits: Record<string, number> = { ...kept, ...limitsOf(wanted) };
  for (const [name, amount] of Object.entries(limitsOf(add))) {
    const limit = limits[name];
    if (limit === undefined)
      throw invalid(`process ${pid} has no such limit to add to`, { fact: { kind: "no_limit", pid } });
    limits[name] = limit + amount;
  }
  return limits;
}

const LIMIT_OF: Readonly<Record<string, string>> = { usd: "microUsd" };

function notFound(pid: Pid): Fault {
  return new Fault({
    code: "NOT_FOUND",
    message: `process not found: ${pid}`,
    fact: { kind: "no_history", pid },
  });
}

function invalid(message: string, next: { hint: string } | { fact: Fact }): Fault {
  return new Fault({ code: "INVALID", message, ...next });
}
