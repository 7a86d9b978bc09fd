/**
 * The limits of a supervisor that comes back, and of its children: what was spent stays spent, and what a daemon that died had
 * set aside for calls without a result counts as spent too.
 */
import type { Amounts } from "../abi/budget.ts";
import type { ProcUuid } from "../abi/ids.ts";
import { readSinceState } from "../history/recover/history-reader.ts";
import type { SpawnedBody } from "../history/recover/kept-state.ts";
import { endedSpenders, reservedBy } from "../history/recover/open-calls.ts";
import { accountsAtSpawn, readAll, Shares } from "../history/recover/shares.ts";
import { Account } from "../kernel/account/account.ts";
import { isLimited, NOTHING, plus, tokensOnly } from "../kernel/account/amounts.ts";
import { type KeptAccount, limitsAtSpawn, NOT_KEPT, spentOf } from "../kernel/account/kept-account.ts";
import type { Core } from "../kernel/core.ts";
import type { JournalRecord } from "../kernel/ports/journal.ts";
import { Endowment, keptLimits } from "./endowment.ts";
import { type SupervisorFold, supervisorFacet } from "./facet.ts";
import type { KeptChild, KeptSupervisor } from "./kept-supervisor.ts";
import type { TreePosition } from "./restored-process.ts";

/** Its own. */
export async function accountOf(
  core: Core,
  { proc, pid, body }: JournalRecord,
  kept: KeptSupervisor,
  { above, parent }: TreePosition,
): Promise<Account> {
  const given = above?.supervisor.endowmentOf(above.id).account;
  if (given != null) return given;
  const { depth } = body as SpawnedBody;
  const { accounts } = kept;
  const atSpawn = accountsAtSpawn(proc, { ...(body as SpawnedBody), accounts });
  const known = await withOpenCalls(core, await readAll(core.ports.journal, atSpawn));
  const shares = new Shares(core, (owner) => known.get(owner));
  const over = parent === core.root ? shares.above(accounts) : parent.seed.account;
  const { limits, spent, workedMs, children, isGranted } = known.get(proc) ?? NOT_KEPT;
  const below = isLimited(limits) ? spent : usedBelow(kept);
  const more = {
    owner: { proc, pid },
    spent: below,
    workedMs,
    children,
    isGranted,
    depth: depth ?? 0,
    givesAll: true,
  };
  return new Account(over, limits, more);
}

function usedBelow({ children }: KeptSupervisor): Amounts {
  return children.reduce((sum, { endowment }) => plus(sum, spentOf(endowment)), NOTHING);
}

async function withOpenCalls(
  core: Core,
  known: ReadonlyMap<ProcUuid, KeptAccount>,
): Promise<ReadonlyMap<ProcUuid, KeptAccount>> {
  const open = await openCalls(core);
  const all = [...known].map(([proc, kept]): [ProcUuid, KeptAccount] => {
    return [proc, { ...kept, spent: plus(kept.spent, open.get(proc) ?? NOTHING) }];
  });
  return new Map(all);
}

/** Those of its children, and of the children of supervisors among them. */
export async function endowmentsOf(
  core: Core,
  owner: Pick<JournalRecord, "proc" | "pid">,
  fold: SupervisorFold,
  account: Account,
): Promise<Endowment> {
  const endowment = new Endowment();
  await fill(core, owner, fold, account, endowment);
  return endowment;
}

async function fill(
  core: Core,
  owner: Pick<JournalRecord, "proc" | "pid">,
  fold: SupervisorFold,
  account: Account,
  endowment: Endowment,
): Promise<void> {
  for (const child of fold.kept.children) {
    const own = endowment.of(child.id);
    const used = await usedBy(core, child);
    own.restore(child.endowment, account, used);
    keepUse(core, owner, fold, child, used);
    if (child.run !== null && own.account !== null) await fillNested(core, child.run, own.account, own);
  }
}

/** What it counts from here on begins with this. */
function keepUse(
  core: Core,
  { proc, pid }: Pick<JournalRecord, "proc" | "pid">,
  fold: SupervisorFold,
  { id, endowment }: KeptChild,
  { tokens: used, microUsd: usd }: Amounts,
): void {
  if (used === endowment.used && usd === (endowment.usd ?? 0)) return;
  const change = { child: id, used, ...(usd === 0 ? {} : { usd }) };
  fold.change(change);
  core.ports.journal.note([{ proc, pid, kind: "process.checkpoint", v: 1, body: change }]);
}

/** If its newest run was a supervisor. */
async function fillNested(
  core: Core,
  run: NonNullable<KeptChild["run"]>,
  account: Account,
  endowment: Endowment,
): Promise<void> {
  const row = await core.ports.journal.row(run.uuid);
  if (row?.kind !== "supervisor") return;
  const state = (await core.ports.journal.ofKind(run.uuid, "process.state")).at(-1);
  if (state === undefined) return;
  const fold = (await readSinceState(core.ports.journal, state)).of(supervisorFacet);
  if (fold !== null) await fill(core, { proc: run.uuid, pid: run.pid }, fold, account, endowment);
}

/** Without a limit nothing is written at each call: then its own calls are what is known of its last run. */
async function usedBy(core: Core, { endowment, run, isRunning }: KeptChild): Promise<Amounts> {
  if (run === null) return spentOf(endowment);
  const used = plus(spentOf(endowment), (await openCalls(core)).get(run.uuid) ?? NOTHING);
  // its end was counted, and what was still under way then was not
  if (!isRunning || isLimited(limitsAtSpawn(keptLimits(endowment)))) return used;
  const row = await core.ports.journal.row(run.uuid);
  return plus(used, tokensOnly(row?.tokensUsed ?? 0));
}

const OPEN = new WeakMap<Core, Promise<ReadonlyMap<ProcUuid, Amounts>>>();

/** By process: set aside by it and all below it for calls without a result. Read once a boot. */
function openCalls(core: Core): Promise<ReadonlyMap<ProcUuid, Amounts>> {
  const known = OPEN.get(core) ?? readOpenCalls(core);
  OPEN.set(core, known);
  return known;
}

async function readOpenCalls({ ports }: Core): Promise<ReadonlyMap<ProcUuid, Amounts>> {
  const { journal } = ports;
  const sums = new Map<ProcUuid, Amounts>();
  const calls = await journal.openCalls();
  const open = calls.map((call) => ({ proc: call.proc, amounts: reservedBy(call) }));
  if (open.every(({ amounts }) => amounts.tokens === 0)) return sums;
  const unfinished = await journal.unfinished();
  const spawned = [...unfinished, ...(await endedSpenders(journal, calls, unfinished))];
  const byPid = new Map(spawned.map(({ pid, proc }) => [Number(pid), proc]));
  const above = new Map(spawned.map(({ proc, body }) => [proc, byPid.get((body as SpawnedBody).ppid)]));
  for (const { proc, amounts } of open)
    for (let at: ProcUuid | undefined = proc; at !== undefined; at = above.get(at))
      sums.set(at, plus(sums.get(at) ?? NOTHING, amounts));
  return sums;
}
