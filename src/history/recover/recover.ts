/**
 * What the last daemon left. An agent comes back, or rests until somebody opens it; a program of the host is lost; a
 * supervisor brings back what it supervised. A call without a result is unknown, and what was set aside for it is spent. No
 * history is read here and nothing is opened, so that the socket opens soon, however many there are.
 */
import type { Amounts } from "../../abi/budget.ts";
import { messageOf } from "../../abi/errors.ts";
import { PID_KERNEL, type Pid, type ProcUuid } from "../../abi/ids.ts";
import { type Hold, SIGNALS } from "../../abi/process.ts";
import { plus } from "../../kernel/account/amounts.ts";
import { isKept, type KeptAccount, useDraft } from "../../kernel/account/kept-account.ts";
import { recallWindows } from "../../kernel/account/root-account.ts";
import type { Core } from "../../kernel/core.ts";
import { endedByFacet } from "../../kernel/ipc/facets.ts";
import type { GroupRecord } from "../../kernel/ipc/groups.ts";
import {
  type JournalDraft,
  type JournalRecord,
  KERNEL_UUID,
  type ProcessRow,
  type RecordOwner,
} from "../../kernel/ports/journal.ts";
import type { Process } from "../../kernel/process/process.ts";
import { runTimeFacet } from "../../kernel/process/run-time-facet.ts";
import { runProgram } from "../../kernel/process/spawn/run.ts";
import { Turnstile } from "../../kernel/process/turnstile.ts";
import { restoreSupervisor } from "../../supervise/restore.ts";
import { probeCalls } from "../fork/probe.ts";
import { ageMs } from "./age.ts";
import { readEarly } from "./early-facts.ts";
import { type Fate, fateOf, wordsOf } from "./fate.ts";
import { mailOf } from "./history-reader.ts";
import { type KeptState, keptState, type SpawnedBody } from "./kept-state.ts";
import { endedSpenders, OpenCalls } from "./open-calls.ts";
import { type Remains, type Restoring, restore } from "./restore.ts";
import { LOST } from "./restored-body.ts";
import { accountsAtSpawn, readAll, Shares } from "./shares.ts";
import { unheard } from "./unheard.ts";

/** Histories that are read at once: each may be long. */
const READERS = 4;

export interface Recovery {
  readonly lost: readonly Pid[];
  /** In the table again. */
  readonly restored: readonly Left[];
  /** Not in memory, until somebody opens them. */
  readonly resting: readonly Left[];
}

interface Left {
  readonly pid: Pid;
  readonly uuid: ProcUuid;
}

/** What the journal says of those that have not ended. */
interface Legacy {
  readonly unfinished: readonly JournalRecord[];
  /** `process.spawned` of those, and of those that had ended while a call of theirs was under way. */
  readonly spenders: readonly JournalRecord[];
  readonly rows: ReadonlyMap<ProcUuid, ProcessRow>;
  readonly states: ReadonlyMap<ProcUuid, JournalRecord>;
  readonly mail: ReadonlyMap<ProcUuid, readonly JournalRecord[]>;
  readonly groups: ReadonlyMap<ProcUuid, readonly JournalRecord[]>;
  readonly calls: OpenCalls;
  readonly unheard: ReadonlySet<ProcUuid>;
}

interface Back {
  readonly owner: RecordOwner;
  readonly fate: Fate;
  readonly begin: () => void;
  /** undefined: a supervisor. */
  readonly proc?: Process;
}

/** Called once, before the socket opens. */
export async function recover(core: Core): Promise<Recovery> {
  const left = await whatIsLeft(core);
  const kept = await accountsOf(core, left);
  const { account } = core.root.seed;
  await recallWindows(account, core.ports.journal);
  account.charge(left.calls.all, core.ports.clock.now());
  const restoring: Restoring = {
    shares: new Shares(core, (proc) => withMore(kept.get(proc), left.calls.ofAccount(proc))),
    turnstile: new Turnstile(READERS),
    onHistory: (proc, history) => {
      const [{ recoveredMs }, endedBy] = [history.of(runTimeFacet), history.of(endedByFacet)];
      if (recoveredMs !== null) proc.carryOver(recoveredMs);
      if (endedBy !== null) void core.deliver(proc, endedBy);
    },
  };
  const fates = fatesOf(left);
  reserveGroups(core, left);
  const [back, lost, resting]: [Back[], JournalRecord[], JournalRecord[]] = [[], [], []];
  for (const record of left.unfinished) {
    const fate = fates.get(record.pid) ?? "lost";
    const came =
      fate === "rests" || fate === "lost" ? fate : await bringBack(core, left, record, fate, restoring);
    if (came === "lost") lost.push(record);
    else if (came === "rests") resting.push(record);
    else back.push(came);
  }
  const isClean = left.calls.size + lost.length === 0 && back.every(({ fate }) => fate === "paused");
  await core.ports.journal.append([
    bootRecord(core.ports.journal.epoch, isClean),
    ...left.calls.drafts((proc) => kept.get(proc)),
    ...windowDrafts(core, left),
    ...lost.map((record) => lostDraft(left, record)),
    ...back.flatMap((each) => backDrafts(each, core.ports.journal.epoch)),
  ]);
  for (const record of resting) tellResting(core, left, record);
  tellOwners(core, lost);
  for (const { begin } of back) begin();
  return {
    lost: lost.map(({ pid }) => pid),
    restored: back.map(({ owner: { pid, proc } }) => ({ pid, uuid: proc })),
    resting: resting.map(({ pid, proc }) => ({ pid, uuid: proc })),
  };
}

async function whatIsLeft(core: Core): Promise<Legacy> {
  const { journal } = core.ports;
  const [open, unfinished, states, mail, groups, rows] = await Promise.all([
    journal.openCalls(),
    journal.unfinished(),
    journal.liveStates(),
    journal.liveMail(),
    journal.liveGroups(),
    journal.rows({ live: true }),
  ]);
  const spenders = [...unfinished, ...(await endedSpenders(journal, open, unfinished))];
  return {
    unfinished,
    spenders,
    rows: new Map(rows.map((row) => [row.proc, row])),
    states: new Map(states.map((record) => [record.proc, record])),
    mail: byProcess(mail),
    groups: byProcess(groups),
    calls: new OpenCalls(open, spenders, await probeCalls(core, open)),
    unheard: await unheard(journal, unfinished),
  };
}

/** Each account that one of them drew on, also of a process that is gone. */
function accountsOf({ ports: { journal } }: Core, left: Legacy): Promise<ReadonlyMap<ProcUuid, KeptAccount>> {
  const all = left.spenders.flatMap(({ proc, body }) => accountsAtSpawn(proc, body as Partial<SpawnedBody>));
  return readAll(journal, all);
}

function withMore(kept: KeptAccount | undefined, more: Amounts): KeptAccount | undefined {
  return kept === undefined ? undefined : { ...kept, spent: plus(kept.spent, more) };
}

/** What nobody saw the end of counts in the user's own limits, too. */
function windowDrafts({ root: { seed } }: Core, { calls }: Legacy): readonly JournalDraft[] {
  return calls.size === 0 || !isKept(seed.account)
    ? []
    : [useDraft(seed.account, 0)].flatMap((draft) => draft ?? []);
}

/** Parents come before their children. */
function fatesOf(left: Legacy): ReadonlyMap<Pid, Fate> {
  const fates = new Map<Pid, Fate>();
  for (const { proc, pid, body } of left.unfinished) {
    const { kind, ppid } = body as SpawnedBody;
    const parent = fates.get(ppid as Pid);
    const row = left.rows.get(proc);
    fates.set(
      pid,
      fateOf({
        kind,
        kept: keptOf(left, proc),
        parent,
        isOrphan: ppid !== PID_KERNEL && (parent === undefined || parent === "lost"),
        isPaused: row?.isPaused ?? false,
        isDamaged: (row?.damagedAt ?? null) !== null,
        isMarked: left.calls.isMarked(proc),
        isUnheard: left.unheard.has(proc),
      }),
    );
  }
  return fates;
}

/** null: too little, or of a version that is not known here. */
function keptOf(left: Legacy, proc: ProcUuid): KeptState | null {
  const record = left.states.get(proc);
  try {
    return record === undefined ? null : keptState(record);
  } catch {
    return null;
  }
}

async function bringBack(
  core: Core,
  left: Legacy,
  record: JournalRecord,
  fate: Fate,
  restoring: Restoring,
): Promise<Back | "lost" | "rests"> {
  const { proc: uuid, pid } = record;
  const owner = { proc: uuid, pid };
  try {
    if (fate === "supervises") {
      const begin = await restoreSupervisor(core, record, left.states.get(uuid));
      return begin === undefined ? "lost" : { owner, fate, begin };
    }
    const kept = keptOf(left, uuid);
    if (kept === null) return "lost";
    const facts = await readEarly(core.ports.journal, uuid);
    const proc = restore(core, { ...remainsOf(left, record, kept, fate), facts }, restoring);
    proc.heldFor = holdOf(fate);
    return {
      owner,
      fate,
      proc,
      begin: () => begin(core, proc, fate, left.calls.wordsOf(uuid), kept.hasOutput),
    };
  } catch (error) {
    // it is not lost for that, and keeps no daemon from starting
    core.ports.log(
      "error",
      `pid ${pid}: it could not be brought back: ${messageOf(error)}; try: crux resume ${pid}`,
    );
    return "rests";
  }
}

function holdOf(fate: Fate): Exclude<Hold, "disk"> {
  if (fate === "damaged") return "damage";
  return WAITS.has(fate) ? "crash" : "signal";
}

function remainsOf(
  left: Legacy,
  { proc, pid, body }: JournalRecord,
  kept: KeptState,
  fate: Fate,
): Omit<Remains, "facts"> {
  const row = left.rows.get(proc);
  const spawned = body as SpawnedBody;
  return {
    owner: { proc, pid },
    spawned,
    kept,
    mail: (left.mail.get(proc) ?? []).map((record) => mailOf(record.body)),
    groups: (left.groups.get(proc) ?? []).map((record) => record.body as GroupRecord),
    tokensUsed: (row?.tokensUsed ?? 0) + left.calls.tokensOf(proc),
    ranMs: row === undefined ? 0 : ranMs(row),
    ageMs: ageMs(spawned, row),
    isPaused: fate !== "goes_on",
  };
}

/** One that no signal met has run since it was made. */
function ranMs({ ranMs: told, isPaused, lastAt, createdAt }: ProcessRow): number {
  return told > 0 || isPaused ? told : Math.max(0, lastAt - createdAt);
}

function begin(core: Core, proc: Process, fate: Fate, unknown: string, hadOutput: boolean): void {
  runProgram(core, proc, 0);
  const words = [wordsOf(fate, proc.pid)];
  if (unknown !== "") words.push(`${unknown}; check before repeating`);
  if (hadOutput) words.push("the reader of its output is gone");
  const level = fate === "failed" || fate === "damaged" ? "error" : "warn";
  proc.log(level, words.join("; "), core.ports.clock.mono());
}

/** Whoever opens it reads that. */
function tellResting(core: Core, { calls }: Legacy, { proc, pid, body }: JournalRecord): void {
  const unknown = calls.wordsOf(proc);
  if (unknown === "") return;
  const timestampMs = Math.max(0, core.ports.clock.now() - (body as SpawnedBody).createdAt);
  const entry = { timestampMs, level: "warn", message: `${unknown}; check before repeating` };
  core.ports.journal.note([{ proc, pid, kind: "process.log", v: 1, body: entry }]);
}

/** One that rests has its groups when it comes back: nobody else's have their numbers. */
function reserveGroups(core: Core, { groups }: Legacy): void {
  for (const records of groups.values())
    for (const { body } of records) core.groups.reserve((body as GroupRecord).group);
}

/** Their owners hear of programs that are gone, and where their output is. */
function tellOwners(core: Core, lost: readonly JournalRecord[]): void {
  for (const { pid, body } of lost) {
    const { ppid, kind, intent } = body as SpawnedBody;
    const owner = core.table.get(ppid as Pid);
    if (owner === undefined || kind !== "native") continue;
    const words = `process ${pid} (${intent.slice(0, 80)}) ended with its daemon; what it wrote: crux logs ${pid}`;
    owner.log("warn", words, core.ports.clock.mono());
  }
}

function bootRecord(epoch: number, clean: boolean): JournalDraft {
  return { proc: KERNEL_UUID, pid: PID_KERNEL, kind: "kernel.boot", v: 1, body: { epoch, clean } };
}

function lostDraft({ rows, calls }: Legacy, { proc, pid }: JournalRecord): JournalDraft {
  const tokensUsed = (rows.get(proc)?.tokensUsed ?? 0) + calls.tokensOf(proc);
  return { proc, pid, kind: "process.exited", v: 1, body: { ...LOST, result: "", tokensUsed } };
}

/** By a signal that nobody sent. */
const WAITS: ReadonlySet<Fate> = new Set<Fate>(["asks", "failed", "unheard"]);

/** One that waits for a person does so in the daemons to come, too. */
function backDrafts({ owner, fate, proc }: Back, epoch: number): JournalDraft[] {
  const recovered = { ...owner, kind: "process.recovered", v: 1, body: { epoch } } as const;
  if (proc === undefined || !WAITS.has(fate)) return [recovered];
  const body = {
    signal: SIGNALS.SIGPAUSE,
    disposition: "default",
    paused: true,
    ranMs: Math.round(proc.ranMs(0)),
  };
  return [recovered, { ...owner, kind: "signal", v: 1, body }];
}

function byProcess(records: readonly JournalRecord[]): ReadonlyMap<ProcUuid, readonly JournalRecord[]> {
  const found = new Map<ProcUuid, JournalRecord[]>();
  for (const record of records) {
    const of = found.get(record.proc) ?? [];
    of.push(record);
    found.set(record.proc, of);
  }
  return found;
}
