/**
 * What the last daemon left of processes that have not ended, as rows and a few records say it: no history is read. And what
 * becomes of each.
 */
import { PID_KERNEL, type Pid, type ProcUuid } from "../../abi/ids.ts";
import type { Probed } from "../../abi/program.ts";
import type {
  Journal,
  JournalDraft,
  JournalRecord,
  ProcessRow,
  RecordOwner,
} from "../../kernel/ports/journal.ts";
import type { KernelPorts } from "../../kernel/ports/kernel-ports.ts";
import { type KeptState, keptState, type SpawnedBody } from "../../kernel/process/kept-state.ts";
import { rightsOf } from "../../kernel/process/rights/kept-rights.ts";
import { goneWorktree } from "../../kernel/process/tree/worktree.ts";
import { type Fate, fateOf } from "./fate.ts";
import { endedSpenders, OpenCalls } from "./open-calls.ts";
import { unheard } from "./unheard.ts";

/** The journal's records about processes that have not ended. */
export interface Legacy {
  readonly unfinished: readonly JournalRecord[];
  /** `process.spawned` records of unfinished processes, and of those that ended while a call was in progress. */
  readonly spenders: readonly JournalRecord[];
  readonly rows: ReadonlyMap<ProcUuid, ProcessRow>;
  readonly states: ReadonlyMap<ProcUuid, JournalRecord>;
  readonly mail: ReadonlyMap<ProcUuid, readonly JournalRecord[]>;
  readonly groups: ReadonlyMap<ProcUuid, readonly JournalRecord[]>;
  readonly calls: OpenCalls;
  readonly unheard: ReadonlySet<ProcUuid>;
}

/** An unfinished process, and its fate. */
export interface Relic {
  readonly spawned: JournalRecord;
  readonly owner: RecordOwner;
  readonly fate: Fate;
  readonly row: ProcessRow | undefined;
}

/** `probe`: what became of interrupted calls, as far as their files show it. */
export async function whatIsLeft(
  journal: Journal,
  probe: (intents: readonly JournalRecord[]) => Promise<ReadonlyMap<JournalRecord, Probed["outcome"]>>,
): Promise<Legacy> {
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
    calls: new OpenCalls(open, spenders, await probe(open)),
    unheard: await unheard(journal, unfinished),
  };
}

/** Parents before their children. */
export function relicsOf(left: Legacy): readonly Relic[] {
  const fates = new Map<Pid, Fate>();
  return left.unfinished.map((spawned) => {
    const { proc, pid, body } = spawned;
    const { kind, ppid } = body as SpawnedBody;
    const parent = fates.get(ppid as Pid);
    const row = left.rows.get(proc);
    const fate = fateOf({
      kind,
      kept: keptOf(left, proc),
      parent,
      isOrphan: ppid !== PID_KERNEL && (parent === undefined || parent === "lost"),
      isPaused: row?.isPaused ?? false,
      isDamaged: (row?.damagedAt ?? null) !== null,
      isMarked: left.calls.isMarked(proc),
      isUnheard: left.unheard.has(proc),
    });
    fates.set(pid, fate);
    return { spawned, owner: { proc, pid }, fate, row };
  });
}

/** null: too little was recorded, or in an unknown version. */
export function keptOf(left: Legacy, proc: ProcUuid): KeptState | null {
  const record = left.states.get(proc);
  try {
    return record === undefined ? null : keptState(record);
  } catch {
    return null;
  }
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

interface Reading {
  readonly ports: Pick<KernelPorts, "journal" | "worktrees">;
}

/**
 * Agents that ended with a message unread: the daemon stopped before they came back with it (process/spawn/run.ts). One
 * record lets such an agent count as not ended, so it is restored like all others, and only once. Returns whether there
 * are any. `relics`: what has not ended, their parents among them.
 */
export async function readOn(core: Reading, relics: readonly Relic[]): Promise<boolean> {
  const { journal } = core.ports;
  const letters = (await journal.endedMail()).filter(({ body }) => !isNotice(body));
  const backs = new Set(relics.filter(({ fate }) => fate !== "lost").map(({ owner }) => Number(owner.pid)));
  const drafts: JournalDraft[] = [];
  for (const proc of new Set(letters.map((letter) => letter.proc))) {
    const exited = await journal.newest(proc, "process.exited");
    // what was recorded after its exit was refused to its sender
    const isUnread = letters.some((letter) => letter.proc === proc && letter.seq < (exited?.seq ?? 0));
    const spawned = isUnread ? await resumable(core, proc) : undefined;
    const { ppid, child } = (spawned?.body ?? {}) as Partial<SpawnedBody>;
    if (spawned === undefined || child === undefined || !backs.has(Number(ppid))) continue;
    const owner = { proc, pid: spawned.pid };
    const body = { epoch: journal.epoch, resumed: true };
    drafts.push({ ...owner, kind: "process.recovered", v: 1, body });
    // whoever waited for it has its result, perhaps
    if (child.isBackground !== true) drafts.push({ ...owner, kind: "child.detached", v: 1, body: {} });
  }
  if (drafts.length > 0) await journal.append(drafts);
  return drafts.length > 0;
}

/** The record of its spawn. undefined: it cannot be restored, and stays as it ended. */
async function resumable(core: Reading, proc: ProcUuid): Promise<JournalRecord | undefined> {
  const { journal } = core.ports;
  const [spawned] = await journal.ofKind(proc, "process.spawned");
  const states = await journal.ofKind(proc, "process.state");
  const isDamaged = ((await journal.row(proc))?.damagedAt ?? null) !== null;
  if (spawned === undefined || states.length === 0 || isDamaged) return undefined;
  const gone = await goneWorktree(core, rightsOf(spawned.body as SpawnedBody));
  return gone === undefined ? spawned : undefined;
}

function isNotice(body: unknown): boolean {
  return (body as { readonly notice?: number }).notice !== undefined;
}
