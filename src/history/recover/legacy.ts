/**
 * What the last daemon left of processes that have not ended, as rows and a few records say it: no history is read. And what
 * becomes of each.
 */
import { PID_KERNEL, type Pid, type ProcUuid } from "../../abi/ids.ts";
import type { Probed } from "../../abi/program.ts";
import type { Journal, JournalRecord, ProcessRow, RecordOwner } from "../../kernel/ports/journal.ts";
import { type KeptState, keptState, type SpawnedBody } from "../../kernel/process/kept-state.ts";
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
