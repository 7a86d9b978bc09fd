/**
 * A fork consists of records only: its origin, and its own state. Its context is read from the shared records when it
 * wakes. It is a separate process: the origin's open files, children, mail, groups and "always" answers are not copied.
 */

import type { BudgetLimits } from "../../abi/budget.ts";
import { PID_KERNEL, type Pid, type ProcUuid } from "../../abi/ids.ts";
import type { PermissionMode } from "../../abi/process.ts";
import { ALL_RIGHTS, type Rights } from "../../abi/rights.ts";
import type { Worktree } from "../../abi/worktree.ts";
import { isLimited } from "../../kernel/account/amounts.ts";
import { type KeptUse, limitsAtSpawn, moreLimits } from "../../kernel/account/kept-account.ts";
import { LIMITS } from "../../kernel/limits.ts";
import type { Forked, ForkRequest } from "../../kernel/ports/forks.ts";
import type { Journal, JournalDraft, RecordOwner } from "../../kernel/ports/journal.ts";
import type { JournalHold } from "../../kernel/ports/journal-hold.ts";
import type { KernelPorts } from "../../kernel/ports/kernel-ports.ts";
import { type KeptState, keptState, type SpawnedBody } from "../../kernel/process/kept-state.ts";
import { presentMode, rightsOf } from "../../kernel/process/rights/kept-rights.ts";
import { modeFacet, readMode } from "../../kernel/process/rights/mode-facet.ts";
import { lowest, narrow } from "../../kernel/process/rights/narrow.ts";
import { checkNew } from "../../kernel/process/spawn/seed.ts";
import type { ProcessTable } from "../../kernel/process/table.ts";
import { enteredFacet } from "../../kernel/process/tree/entered.ts";
import { readEarly } from "../recover/early-facts.ts";
import { EARLY } from "../recover/facets.ts";
import { forkError } from "./fork-error.ts";
import { recordsOfLineage, stretchesOf } from "./lineage.ts";
import { findPlace, type ResolvedPoint } from "./place.ts";

/** What a fork needs of the kernel. */
export interface Forking {
  readonly ports: Pick<KernelPorts, "clock" | "journal" | "permitFor" | "uuid">;
  readonly table: Pick<ProcessTable, "all" | "get">;
  readonly grants: Bounding["grants"];
  /** False: the kernel is shutting down. */
  readonly accepting: boolean;
  readonly journalWatch: Pick<JournalHold<never>, "check">;
  nextPid(): Pid;
  nextMessage(): number;
}

/** The recorded facts of the process that is forked. */
export interface Origin {
  readonly uuid: ProcUuid;
  readonly pid: Pid;
  readonly spawned: SpawnedBody & { readonly isSession?: boolean };
  /** null: too little was recorded to fork it. */
  readonly state: KeptState | null;
  readonly isSession: boolean;
}

/** NOT_FOUND: no such process, or its history was removed. INVALID: not an agent. CONFLICT: its history is damaged. */
export async function originOf(core: Forking, pid: Pid): Promise<Origin> {
  const { journal } = core.ports;
  // when the disk refuses writes, what is already there can still be read
  await journal.sync().catch(() => {});
  const uuid = core.table.get(pid)?.seed.uuid ?? (await journal.processOf(pid));
  const row = uuid === undefined ? undefined : await journal.row(uuid);
  const [spawned] = uuid === undefined ? [] : await journal.ofKind(uuid, "process.spawned");
  if (uuid === undefined || row === undefined || spawned === undefined)
    throw forkError("NOT_FOUND", `process not found: ${pid}, or its history is gone`, {
      kind: "no_history",
      pid,
    });
  if (row.kind !== "agent") throw forkError("INVALID", `process ${pid} is not an agent but a ${row.kind}`);
  if (row.damagedAt !== null)
    throw forkError("CONFLICT", `the history of process ${pid} is damaged`, { kind: "damaged", pid });
  const state = (await journal.ofKind(uuid, "process.state")).at(-1);
  return {
    uuid,
    pid,
    spawned: spawned.body as SpawnedBody,
    state: state === undefined ? null : keptState(state),
    isSession: row.isSession,
  };
}

export async function forkProcess(core: Forking, origin: Origin, request: ForkRequest): Promise<Forked> {
  const place = await findPlace(core.ports.journal, origin.uuid, { at: request.at });
  return forkAt(core, origin, { ...request, place });
}

interface PlacedRequest extends ForkRequest {
  readonly place: ResolvedPoint;
}

/** A fork whose records are being made. */
interface Making {
  readonly own: RecordOwner;
  readonly origin: Origin;
  readonly request: ForkRequest;
}

export async function forkAt(core: Forking, origin: Origin, request: PlacedRequest): Promise<Forked> {
  const { place: found, uuid } = request;
  if (uuid !== undefined) await checkNew(core, { pid: PID_KERNEL }, uuid);
  const state = checkForkable(core, origin);
  const rights = await rightsAt(core, origin, found);
  const facts = core.table.get(origin.pid)?.facts ?? (await readEarly(core.ports.journal, origin.uuid));
  const account = await accountAt(core.ports.journal, found, origin.spawned);
  const tree = await treeNow(core, origin);
  const tasks = await tasksAbove(core.ports.journal, origin);
  // the kernel may have begun to shut down, or the disk to fail, during the reads above
  checkForkable(core, origin);
  const own = { proc: request.uuid ?? core.ports.uuid(), pid: core.nextPid() };
  const making = { own, origin, request };
  const drafts = [
    { ...own, kind: "process.forked", v: 1, body: { from: found.proc, at: found.seq } } as const,
    spawnedDraft(core, making, { ...rights, account }),
    ...useAtDrafts(own, account),
    stateDraft(core, making, { ...state, ...(tasks.length === 0 ? {} : { tasks }) }),
    ...EARLY.flatMap((facet) => facet.carry?.(facts.of(facet)) ?? []).map((each) => ({
      ...own,
      v: 1,
      ...each,
    })),
    ...(tree === null ? [] : [{ ...own, kind: "worktree.enter", v: 1, body: { worktree: tree } } as const]),
    ...mailDrafts(core, own, request),
  ];
  await core.ports.journal.append(drafts, { expect: 0 });
  return { pid: own.pid, uuid: own.proc, step: found.step, from: found.proc, at: found.seq };
}

/** Where the origin works in a worktree now, so does its fork, wherever it begins: the checkout is closed to both. */
async function treeNow(
  { ports: { journal }, table }: Forking,
  { pid, uuid }: Origin,
): Promise<Worktree | null> {
  const live = table.get(pid)?.facts.of(enteredFacet) ?? null;
  if (live !== null) return live;
  const [entered, left] = await Promise.all([
    journal.newest(uuid, "worktree.enter"),
    journal.newest(uuid, "worktree.exit"),
  ]);
  if (entered === undefined || (left !== undefined && left.seq > entered.seq)) return null;
  return (entered.body as { readonly worktree: Worktree }).worktree;
}

/** What agents have written as the first messages of those whose conversation the origin goes on with. */
async function tasksAbove(journal: Journal, { uuid }: Origin): Promise<readonly string[]> {
  const above = (await stretchesOf(journal, uuid)).filter(({ proc }) => proc !== uuid);
  const spawns = await Promise.all(above.map(({ proc }) => journal.ofKind(proc, "process.spawned")));
  return spawns.flatMap(([spawned]) => {
    const { line = [], intent = "" } = (spawned?.body ?? {}) as Partial<SpawnedBody>;
    return line.length === 0 ? [] : [intent];
  });
}

/** The state that the fork copies. UNAVAILABLE: shutting down, or the disk fails. CONFLICT: too little was recorded. */
export function checkForkable(core: Forking, { pid, state }: Origin): KeptState {
  if (!core.accepting) throw forkError("UNAVAILABLE", "the kernel is shutting down");
  core.journalWatch.check("Fork");
  if (state !== null) return state;
  throw forkError("CONFLICT", `too little was recorded to resume process ${pid}`);
}

/** A fork of a headless process stays headless if it gets a message; any other waits for messages as a session. */
function isTalkedTo({ isSession, state }: Origin, { message }: ForkRequest): boolean {
  const isHeadless = !isSession && state?.isInteractive !== true;
  return !(isHeadless && message !== undefined);
}

function spawnedDraft(
  core: Forking,
  { own, origin, request }: Making,
  { account, ...rights }: ForkRights & { readonly account: AccountAt },
): JournalDraft {
  const { use: _use, ...budget } = account;
  const { isSession: _, limits: _limits, request: _request, ...kept } = origin.spawned;
  // the pictures are shown with the message of the origin
  const { child: _child, media: _media, fork: _fork, ...spawned } = kept;
  const body = {
    ...spawned,
    ppid: PID_KERNEL,
    ...rights,
    ...budget,
    line: [],
    createdAt: core.ports.clock.now(),
    ...(isTalkedTo(origin, request) ? { isSession: true } : {}),
    ...(request.request === undefined ? {} : { request: request.request }),
  };
  return { ...own, kind: "process.spawned", v: 1, body };
}

function stateDraft(core: Forking, { own, origin, request }: Making, kept: KeptState): JournalDraft {
  const live = core.table.get(origin.pid)?.givenRoots;
  const body: KeptState = {
    ...kept,
    roots: live === undefined ? kept.roots : kept.roots.filter((root) => live.includes(root)),
    // a session of its own: "always" answers belong to the origin's session
    session: own,
    onParentExit: "reparent",
    timeoutMs: 0,
    hasInput: false,
    hasOutput: false,
    isSession: isTalkedTo(origin, request),
    client: "",
    ...(kept.session.proc === origin.uuid ? {} : { isOfAgent: true }),
  };
  return { ...own, kind: "process.state", v: 2, body };
}

function mailDrafts(core: Forking, own: RecordOwner, { message, client }: ForkRequest): JournalDraft[] {
  if (message === undefined) return [];
  const data = Buffer.from(message);
  if (message.trim() === "") throw forkError("INVALID", "the message is empty");
  if (data.byteLength > LIMITS.mailBytes)
    throw forkError("INVALID", `message of ${data.byteLength} bytes; at most ${LIMITS.mailBytes}`);
  const body = {
    seq: core.nextMessage(),
    from: PID_KERNEL,
    to: own.pid,
    data: data.toString("base64"),
    ...(client === undefined ? {} : { client }),
    sentAt: core.ports.clock.now(),
  };
  return [{ ...own, kind: "mail.put", v: 1, body }];
}

/** The account of a fork: limits and use are those of its origin at that step, so that forking refills no budget. */
interface AccountAt {
  readonly budget: number;
  readonly limits?: BudgetLimits;
  /** undefined: no use was recorded. */
  readonly use: KeptUse | undefined;
}

/** CONFLICT, NOT_FOUND: the history cannot be read (see recordsOfLineage). */
async function accountAt(
  journal: Journal,
  { proc, seq }: { readonly proc: ProcUuid; readonly seq: number },
  spawned: SpawnedBody,
): Promise<AccountAt> {
  let use: KeptUse | undefined;
  for await (const record of recordsOfLineage(journal, proc)) {
    if (record.proc === proc && record.seq > seq) break;
    if (record.kind === "acct.settle") use = record.body as KeptUse;
  }
  const limits = use?.limits ?? limitsAtSpawn(spawned);
  return { budget: limits.tokens ?? 0, ...moreLimits(limits), use };
}

/** The first record of the fork's account. */
function useAtDrafts(own: RecordOwner, { budget, limits = {}, use }: AccountAt): JournalDraft[] {
  if (use === undefined || (budget === 0 && !isLimited(limits))) return [];
  // the limits are in the `process.spawned` record already
  const { limits: _, ...body } = use;
  return [{ ...own, kind: "acct.settle", v: 1, body }];
}

interface ForkRights {
  readonly rights: Rights;
  readonly mode: PermissionMode;
}

interface Bounding {
  readonly ports: Pick<KernelPorts, "journal" | "permitFor">;
  readonly grants: { bounds(pid: Pid): Promise<Pick<Rights, "deny" | "ask">> };
  readonly table: { get(pid: Pid): { readonly mode: PermissionMode } | undefined };
}

/**
 * The rights of a fork: those of its origin at that step, and no more than the origin has now. Rights removed since
 * then stay removed, also by denies of the origin's session, which the fork does not share. Temporary grants are not
 * copied.
 */
async function rightsAt(
  core: Bounding,
  { uuid, pid, spawned }: Origin,
  place: { readonly proc: ProcUuid; readonly seq: number },
): Promise<ForkRights> {
  const kept = rightsOf(spawned);
  const { deny, ask } = await core.grants.bounds(pid);
  const then = await modeAt(core, place.proc, place.seq);
  const now = core.table.get(pid)?.mode ?? (await modeAt(core, uuid, Number.POSITIVE_INFINITY));
  return {
    rights: {
      ...narrow(kept, { ...ALL_RIGHTS, deny, ask }),
      ...(kept.notes === undefined ? {} : { notes: kept.notes }),
    },
    mode: presentMode(core.ports, lowest(kept.mode, then, now), spawned.cwd),
  };
}

async function modeAt({ ports }: Bounding, proc: ProcUuid, seq: number): Promise<PermissionMode> {
  const newest = (await readEarly(ports.journal, proc, seq)).of(modeFacet);
  if (newest !== undefined) return newest.mode;
  const [spawned] = await ports.journal.ofKind(proc, "process.spawned");
  return readMode((spawned?.body as Partial<SpawnedBody> | undefined)?.mode);
}
