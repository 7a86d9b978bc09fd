/**
 * The limits of a supervisor that comes back, and of its children: what was spent stays spent, and what a daemon that died had
 * set aside for calls without a result counts as spent too.
 */
import type { ProcUuid } from "../../abi/ids.ts";
import { Account } from "../account/account.ts";
import type { Core } from "../core.ts";
import type { JournalRecord } from "../ports/journal.ts";
import type { SpawnedBody } from "../process/kept-state.ts";
import { endedSpenders } from "../process/recover-open-calls.ts";
import { Shares } from "../process/restore-shares.ts";
import { Endowment } from "./endowment.ts";
import type { KeptChild, KeptSupervisor, SupervisorFold } from "./kept-supervisor.ts";
import { foldOf } from "./restored-fold.ts";
import type { Place } from "./restored-process.ts";

/** Its own. */
export async function accountOf(
  core: Core,
  { proc, pid, body }: JournalRecord,
  kept: KeptSupervisor,
  { above, parent }: Place,
): Promise<Account> {
  const given = above?.supervisor.endowmentOf(above.id).account;
  if (given != null) return given;
  const { budget } = body as SpawnedBody;
  const known = await usedOfLimits(core, kept);
  const shares = new Shares(core, (owner) => known.get(owner) ?? 0);
  const over = parent === core.root ? shares.above(kept.accounts) : parent.seed.account;
  const own = { proc, pid };
  if (budget === 0) return new Account(over, 0, own, usedBelow(kept));
  const { limitUsed } = (await core.ports.journal.row(proc)) ?? { limitUsed: 0 };
  const open = (await openTokens(core)).get(proc) ?? 0;
  return new Account(over, budget, own, limitUsed + open);
}

function usedBelow({ children }: KeptSupervisor): number {
  return children.reduce((sum, { endowment }) => sum + endowment.used, 0);
}

/** Of the limits above it whose owners are not in memory. */
async function usedOfLimits(
  core: Core,
  { accounts }: KeptSupervisor,
): Promise<ReadonlyMap<ProcUuid, number>> {
  const known = new Map<ProcUuid, number>();
  for (const { proc } of accounts) {
    const row = await core.ports.journal.row(proc);
    known.set(proc, (row?.limitUsed ?? 0) + ((await openTokens(core)).get(proc) ?? 0));
  }
  return known;
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
  used: number,
): void {
  if (used === endowment.used) return;
  const change = { child: id, used };
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
  const { fold } = await foldOf(core, state, state.body as KeptSupervisor);
  await fill(core, { proc: run.uuid, pid: run.pid }, fold, account, endowment);
}

/** Without a limit nothing is written at each call: then its own calls are what is known of its last run. */
async function usedBy(core: Core, { endowment, run, isRunning }: KeptChild): Promise<number> {
  if (run === null) return endowment.used;
  const open = (await openTokens(core)).get(run.uuid) ?? 0;
  // its end was counted, and what was still under way then was not
  if (!isRunning) return endowment.used + open;
  if ((endowment.limit ?? 0) > 0) return endowment.used + open;
  const row = await core.ports.journal.row(run.uuid);
  return endowment.used + (row?.tokensUsed ?? 0) + open;
}

const OPEN = new WeakMap<Core, Promise<ReadonlyMap<ProcUuid, number>>>();

/** By process: set aside by it and all below it for calls without a result. Read once a boot. */
function openTokens(core: Core): Promise<ReadonlyMap<ProcUuid, number>> {
  const known = OPEN.get(core) ?? readOpenTokens(core);
  OPEN.set(core, known);
  return known;
}

async function readOpenTokens({ ports }: Core): Promise<ReadonlyMap<ProcUuid, number>> {
  const { journal } = ports;
  const sums = new Map<ProcUuid, number>();
  const calls = await journal.openCalls();
  const open = calls.map(({ proc, body }) => ({
    proc,
    tokens: (body as { reserved?: number }).reserved ?? 0,
  }));
  if (open.every(({ tokens }) => tokens === 0)) return sums;
  const unfinished = await journal.unfinished();
  const spawned = [...unfinished, ...(await endedSpenders(journal, calls, unfinished))];
  const byPid = new Map(spawned.map(({ pid, proc }) => [Number(pid), proc]));
  const above = new Map(spawned.map(({ proc, body }) => [proc, byPid.get((body as SpawnedBody).ppid)]));
  for (const { proc, tokens } of open)
    for (let at: ProcUuid | undefined = proc; at !== undefined; at = above.get(at))
      sums.set(at, (sums.get(at) ?? 0) + tokens);
  return sums;
}
