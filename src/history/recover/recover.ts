/**
 * Recovers the processes of the last daemon. An agent is restored, or rests until a client opens it; a program of the
 * host is lost; a supervisor restores its children. A call without a result has an unknown outcome, and the amount
 * reserved for it counts as spent. No history is read and nothing is opened here, so that the socket opens soon,
 * however many processes there are.
 */
import type { Amounts } from "../../abi/budget.ts";
import { messageOf } from "../../abi/errors.ts";
import { PID_KERNEL, type Pid, type ProcUuid } from "../../abi/ids.ts";
import { EXIT, type Hold, SIGNALS, type Signal } from "../../abi/process.ts";
import type { Probed } from "../../abi/program.ts";
import { NOTHING, plus } from "../../kernel/account/amounts.ts";
import { isKept, type KeptAbove, type KeptAccount, useDraft } from "../../kernel/account/kept-account.ts";
import { recallWindows } from "../../kernel/account/root-account.ts";
import { recordedInTree } from "../../kernel/account/tree-spent.ts";
import { endedByFacet } from "../../kernel/ipc/facets.ts";
import type { GroupRecord, Groups } from "../../kernel/ipc/groups.ts";
import {
  type JournalDraft,
  type JournalRecord,
  KERNEL_UUID,
  type ProcessRow,
  type RecordOwner,
} from "../../kernel/ports/journal.ts";
import type { KernelPorts } from "../../kernel/ports/kernel-ports.ts";
import { runTimeFacet } from "../../kernel/process/facets/run-time-facet.ts";
import type { KeptState, SpawnedBody } from "../../kernel/process/kept-state.ts";
import type { Process } from "../../kernel/process/process.ts";
import { rightsOf } from "../../kernel/process/rights/kept-rights.ts";
import { type Running, runProgram } from "../../kernel/process/spawn/run.ts";
import { goneWorktree } from "../../kernel/process/tree/worktree.ts";
import { Semaphore } from "../../lib/semaphore.ts";
import { ageMs } from "./age.ts";
import { readPutOff } from "./contents.ts";
import { readEarly } from "./early-facts.ts";
import { type Fate, noticeOf } from "./fate.ts";
import { mailOf } from "./history-reader.ts";
import { keptOf, type Legacy, type Relic, readOn, relicsOf, whatIsLeft } from "./legacy.ts";
import type { Left as LeftOver, Remains, Returned } from "./restore.ts";
import { type AgentRestoring, type Restoring, restoreAgent } from "./restored-agent.ts";
import { accountsAtSpawn, readAll, Shares, type Sharing } from "./shares.ts";

/** What the recovery after a crash needs of the kernel. */
type Recovering = AgentRestoring &
  Sharing &
  Running & {
    readonly ports: Pick<KernelPorts, "onReturned" | "worktrees">;
    readonly groups: Pick<Groups, "reserve">;
    deliver(proc: Process, signal: Signal): Promise<unknown>;
  };

/** How many histories are read at once; each may be long. */
const READERS = 4;

export interface Recovery {
  readonly lost: readonly Pid[];
  /** Processes in the table again. */
  readonly restored: readonly Left[];
  /** Processes not in memory until a client opens them. */
  readonly resting: readonly Left[];
}

interface Left {
  readonly pid: Pid;
  readonly uuid: ProcUuid;
}

interface Back extends Returned {
  readonly owner: RecordOwner;
  readonly fate: Fate;
}

/** Restores a supervisor; undefined: it is lost, and the reason is in the log. */
type RestoreSupervisor = (left: LeftOver) => Promise<Returned | undefined>;

/** What rooms above this one do for a recovery. */
interface Rooms {
  readonly restoreSupervisor: RestoreSupervisor;
  /** What became of interrupted calls, as far as their files show it. */
  readonly probe: (
    intents: readonly JournalRecord[],
  ) => Promise<ReadonlyMap<JournalRecord, Probed["outcome"]>>;
}

interface Boot extends Restoring {
  readonly left: Legacy;
  /** Those that were put off are read one at a time. */
  readonly alone: Semaphore;
  /** Their states without that note. */
  readonly putOff: Map<ProcUuid, Omit<KeptState, "isPutOff">>;
  readonly restoreSupervisor: RestoreSupervisor;
  /** What trees have spent that have a process in memory. */
  readonly spent: Map<Pid, Amounts>;
}

/** Called once, before the socket opens. */
export async function recover(core: Recovering, { restoreSupervisor, probe }: Rooms): Promise<Recovery> {
  let left = await whatIsLeft(core.ports.journal, probe);
  if (await readOn(core, relicsOf(left))) left = await whatIsLeft(core.ports.journal, probe);
  const kept = await accountsOf(core, left);
  const { account } = core.root.seed;
  await recallWindows(account, core.ports.journal);
  account.charge(left.calls.all, core.ports.clock.now());
  const boot: Boot = {
    left,
    restoreSupervisor,
    shares: new Shares(core, (proc) => withMore(kept.get(proc), left.calls.ofAccount(proc))),
    semaphore: new Semaphore(READERS),
    alone: new Semaphore(1),
    putOff: new Map(),
    onRead: ({ pid, seed: { uuid } }) => {
      const body = boot.putOff.get(uuid);
      return body === undefined ? [] : [{ proc: uuid, pid, kind: "process.state", v: 2, body }];
    },
    spent: new Map(),
    onHistory: (proc, history) => {
      const [{ recoveredMs }, endedBy] = [history.of(runTimeFacet), history.of(endedByFacet)];
      if (recoveredMs !== null) proc.halt.time.carryOver(recoveredMs);
      if (endedBy !== null) void core.deliver(proc, endedBy);
    },
  };
  reserveGroups(core, left);
  const [back, lost, resting]: [Back[], JournalRecord[], JournalRecord[]] = [[], [], []];
  for (const relic of relicsOf(left)) {
    const came = await bringBack(core, relic, boot);
    if (came === "lost") lost.push(relic.spawned);
    else if (came === "rests") resting.push(relic.spawned);
    else back.push(came);
  }
  const isClean = left.calls.size + lost.length === 0 && back.every(({ fate }) => fate === "paused");
  await core.ports.journal.append([
    bootRecord(core.ports.journal.epoch, isClean),
    ...left.calls.drafts((proc) => kept.get(proc)),
    ...windowDrafts(core, left),
    ...lost.map((record) => lostDraft(left, record)),
    ...back.flatMap((each) => backDrafts(each, left, core.ports.journal.epoch)),
  ]);
  for (const record of resting) tellResting(core, left, record);
  tellOwners(core, lost);
  await core.ports.onReturned?.(back.map(({ owner }) => owner.pid));
  for (const each of back) each.begin();
  return {
    lost: lost.map(({ pid }) => pid),
    restored: back.map(({ owner: { pid, proc } }) => ({ pid, uuid: proc })),
    resting: resting.map(({ pid, proc }) => ({ pid, uuid: proc })),
  };
}

/**
 * Every account that an unfinished process spends from, also those whose owner has ended. The accounts above a
 * supervisor are in its state record.
 */
function accountsOf(
  { ports: { journal } }: Recovering,
  left: Legacy,
): Promise<ReadonlyMap<ProcUuid, KeptAccount>> {
  const all = left.spenders.flatMap(({ proc, body }) => {
    const { accounts } = (left.states.get(proc)?.body ?? {}) as Partial<KeptAbove>;
    return accountsAtSpawn(proc, {
      ...(accounts === undefined ? {} : { accounts }),
      ...(body as Partial<SpawnedBody>),
    });
  });
  return readAll(journal, all);
}

function withMore(kept: KeptAccount | undefined, more: Amounts): KeptAccount | undefined {
  return kept === undefined ? undefined : { ...kept, spent: plus(kept.spent, more) };
}

/** Open calls count against the user's own limits, too. */
function windowDrafts({ root: { seed } }: Recovering, { calls }: Legacy): readonly JournalDraft[] {
  return calls.size === 0 || !isKept(seed.account)
    ? []
    : [useDraft(seed.account, 0)].flatMap((draft) => draft ?? []);
}

async function bringBack(core: Recovering, relic: Relic, boot: Boot): Promise<Back | "lost" | "rests"> {
  const { owner, fate } = relic;
  if (fate === "rests" || fate === "lost") return fate;
  try {
    await readSpent(core, relic, boot);
    const returned = await (fate === "supervises" ? supervisor : agent)(core, relic, boot);
    return returned === undefined ? "lost" : { owner, fate, ...returned };
  } catch (error) {
    // the process is not lost, and the daemon starts all the same
    core.ports.log("error", `pid ${owner.pid}: it could not be brought back, it rests: ${messageOf(error)}`);
    return "rests";
  }
}

/** Once for each tree, at its root: parents come first. */
async function readSpent({ ports: { journal } }: Recovering, { owner: { pid } }: Relic, { spent }: Boot) {
  if (spent.has(pid)) return;
  for (const [each, amounts] of await recordedInTree(journal, pid)) spent.set(each, amounts);
}

async function supervisor(core: Recovering, relic: Relic, boot: Boot): Promise<Returned | undefined> {
  const { left, shares, restoreSupervisor } = boot;
  return restoreSupervisor({
    remains: await remainsOf(core, relic, boot),
    spawned: relic.spawned,
    state: left.states.get(relic.owner.proc),
    shares,
    reservedBelow: (proc) => left.calls.below(proc),
  });
}

async function agent(core: Recovering, relic: Relic, boot: Boot): Promise<Back | undefined> {
  const { left } = boot;
  const { owner } = relic;
  const kept = keptOf(left, owner.proc);
  if (kept === null) return undefined;
  const { isPutOff = false, ...plain } = kept;
  const gone = await goneWorktree(core, rightsOf(relic.spawned.body as SpawnedBody));
  const fate = gone === undefined ? relic.fate : "homeless";
  if (isPutOff || fate === "put_off") boot.putOff.set(owner.proc, plain);
  const remains = await remainsOf(core, { ...relic, fate }, boot);
  const proc = restoreAgent(core, { ...remains, kept }, boot);
  proc.halt.explain(holdOf(fate));
  // no model has answered or was asked: it was perhaps never admitted; those that had begun do not wait again
  const spent = (left.rows.get(owner.proc)?.tokensUsed ?? 0) + left.calls.of(owner.proc).tokens;
  core.admission.enter(proc, { hasBegun: spent > 0 });
  const notice = noticeOf(fate, owner.pid);
  const words = [notice.message];
  const unknown = left.calls.wordsOf(owner.proc);
  if (unknown !== "") words.push(`${unknown}; check before repeating`);
  if (kept.hasOutput) words.push("the reader of its output is gone");
  if (UNREAD.has(fate)) proc.past.suspect();
  if (ENDS.has(fate)) {
    proc.past.giveUp();
    proc.ending.decide(EXIT.unread);
  }
  if (gone !== undefined) proc.conclude(`[NOT_FOUND] its worktree is gone: ${gone}`);
  const begin = (): void => {
    runProgram(core, proc, 0);
    proc.log(
      UNREAD.has(fate) ? "error" : "warn",
      { ...notice, message: words.join("; ") },
      core.ports.clock.mono(),
    );
    if (fate === "put_off") void readPutOff(core, proc, boot.alone);
  };
  return { proc, begin, owner, fate };
}

function holdOf(fate: Fate): Exclude<Hold, "disk"> {
  if (fate === "damaged") return "damage";
  return WAITS.has(fate) ? "crash" : "signal";
}

async function remainsOf(
  { ports }: Recovering,
  { spawned: record, owner, fate, row }: Relic,
  { left, spent }: Boot,
): Promise<Remains> {
  const spawned = record.body as SpawnedBody;
  const { proc } = owner;
  return {
    owner,
    spawned,
    rights: rightsOf(spawned),
    mail: (left.mail.get(proc) ?? []).map(({ body }) => mailOf(body)),
    groups: (left.groups.get(proc) ?? []).map(({ body }) => body as GroupRecord),
    ...usedBy(row, left.calls.of(proc)),
    spentInTree: plus(spent.get(owner.pid) ?? NOTHING, left.calls.below(proc)),
    ranMs: row === undefined ? 0 : ranMs(row),
    facts: await readEarly(ports.journal, proc),
    ageMs: ageMs(spawned, row),
    isPaused: fate === "supervises" ? row?.isPaused === true : !RUNS.has(fate),
  };
}

/** With what was reserved for its open calls, which counts as spent. */
function usedBy(row: ProcessRow | undefined, open: Amounts): Pick<Remains, "tokensUsed" | "microUsdUsed"> {
  const { tokensUsed = 0, microUsdUsed = 0 } = row ?? {};
  return {
    tokensUsed: tokensUsed + open.tokens,
    microUsdUsed: microUsdUsed === null ? null : microUsdUsed + open.microUsd,
  };
}

/** A process without pause records has run since it was created. */
function ranMs({ ranMs: told, isPaused, lastAt, createdAt }: ProcessRow): number {
  return told > 0 || isPaused ? told : Math.max(0, lastAt - createdAt);
}

/** Writes unknown outcomes to the log of a resting process, for the client that opens it. */
function tellResting(core: Recovering, { calls }: Legacy, { proc, pid, body }: JournalRecord): void {
  const unknown = calls.wordsOf(proc);
  if (unknown === "") return;
  const timestampMs = Math.max(0, core.ports.clock.now() - (body as SpawnedBody).createdAt);
  const entry = { timestampMs, level: "warn", message: `${unknown}; check before repeating` };
  core.ports.journal.note([{ proc, pid, kind: "process.log", v: 1, body: entry }]);
}

/** Resting processes rejoin their groups later, so the numbers of these groups must not be used for new ones. */
function reserveGroups(core: Recovering, { groups }: Legacy): void {
  for (const records of groups.values())
    for (const { body } of records) core.groups.reserve((body as GroupRecord).group);
}

/** Notifies parents, in their log, of native programs that ended with the daemon. */
function tellOwners(core: Recovering, lost: readonly JournalRecord[]): void {
  for (const { pid, body } of lost) {
    const { ppid, kind, intent } = body as SpawnedBody;
    const owner = core.table.get(ppid as Pid);
    if (owner === undefined || kind !== "native") continue;
    const message = `process ${pid} (${intent.slice(0, 80)}) ended with its daemon`;
    owner.log("warn", { message, fact: { kind: "ended", pid } }, core.ports.clock.mono());
  }
}

function bootRecord(epoch: number, clean: boolean): JournalDraft {
  return { proc: KERNEL_UUID, pid: PID_KERNEL, kind: "kernel.boot", v: 1, body: { epoch, clean } };
}

function lostDraft({ rows, calls }: Legacy, { proc, pid }: JournalRecord): JournalDraft {
  const tokensUsed = (rows.get(proc)?.tokensUsed ?? 0) + calls.of(proc).tokens;
  return {
    proc,
    pid,
    kind: "process.exited",
    v: 1,
    body: { ...EXIT.lost, result: "", tokensUsed },
  };
}

/** Fates that pause a process which was running, as if by a signal. */
const WAITS: ReadonlySet<Fate> = new Set<Fate>(["asks", "failed", "put_off", "unheard"]);
/** Fates whose history is not read for the last words of the process. */
const UNREAD: ReadonlySet<Fate> = new Set<Fate>([
  ...["damaged", "failed", "given_up", "homeless", "put_off", "unreadable"],
] as const);
const ENDS: ReadonlySet<Fate> = new Set<Fate>(["given_up", "homeless", "unreadable"]);
const RUNS: ReadonlySet<Fate> = new Set<Fate>([...ENDS, "goes_on"]);

/** A process that waits for the user is recorded as paused, so that later daemons keep it paused. */
function backDrafts({ owner, fate, proc }: Back, left: Legacy, epoch: number): JournalDraft[] {
  const recovered = { ...owner, kind: "process.recovered", v: 1, body: { epoch } } as const;
  if (!WAITS.has(fate)) return [recovered];
  const body = {
    signal: SIGNALS.SIGPAUSE,
    disposition: "default",
    paused: true,
    ranMs: Math.round(proc.halt.time.ms(0)),
  };
  const paused = { ...owner, kind: "signal", v: 1, body } as const;
  const state = { ...keptOf(left, owner.proc), isPutOff: true };
  return [
    recovered,
    paused,
    ...(fate === "put_off" ? [{ ...owner, kind: "process.state", v: 2, body: state } as const] : []),
  ];
}
