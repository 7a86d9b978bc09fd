/** A journal in memory, for tests: the same contract as the one on disk, without the disk. */
import { randomUUID } from "node:crypto";
import { asCallId, type ProcUuid } from "../abi/ids.ts";
import type { Journal, JournalRecord } from "../kernel/ports/journal.ts";
import { systemClock } from "../lib/system-clock.ts";
import { decodeBody } from "./body.ts";
import { GroupJournal, type JournalClock } from "./group.ts";
import type { Entry, Ledger, Place } from "./ledger.ts";
import { endsCall, endsProcess, messageOf } from "./record-kind.ts";

interface Row {
  readonly entry: Entry;
  readonly place: Place;
  readonly epoch: number;
}

/** Stands for a state directory: hand the same one to a second openMemoryJournal to reopen it. */
export class MemoryDisk {
  readonly kernelId = randomUUID();
  epoch = 0;
  /** By lsn: row n has lsn n + 1. */
  readonly rows: Row[] = [];
}

export function openMemoryJournal(disk = new MemoryDisk(), clock: JournalClock = systemClock): Journal {
  disk.epoch += 1;
  return new GroupJournal(new MemoryLedger(disk), clock);
}

class MemoryLedger implements Ledger {
  readonly epoch: number;
  readonly kernelId: string;
  readonly #disk: MemoryDisk;

  constructor(disk: MemoryDisk) {
    this.#disk = disk;
    this.epoch = disk.epoch;
    this.kernelId = disk.kernelId;
  }

  commit(entries: readonly Entry[]): readonly Place[] {
    return entries.map((entry) => {
      const seq = this.#rowsOf(entry.draft.proc).length + 1;
      const place = { lsn: this.#disk.rows.length + 1, seq };
      this.#disk.rows.push({ entry, place, epoch: this.epoch });
      return place;
    });
  }

  read(proc: string, fromSeq: number, limit: number): readonly JournalRecord[] {
    const rows = this.#rowsOf(proc).filter((row) => row.place.seq >= fromSeq);
    return rows.slice(0, limit).map(toRecord);
  }

  openCalls(): readonly JournalRecord[] {
    const open = new Map<string, Row>();
    for (const row of this.#disk.rows) {
      const { kind, proc, call } = row.entry.draft;
      if (call === undefined) continue;
      if (kind === "call.intent") open.set(`${proc} ${call}`, row);
      if (endsCall(kind)) open.delete(`${proc} ${call}`);
    }
    return [...open.values()].sort((a, b) => a.place.lsn - b.place.lsn).map(toRecord);
  }

  unfinished(): readonly JournalRecord[] {
    const live = new Map<string, Row>();
    for (const row of this.#disk.rows) {
      const { kind, proc } = row.entry.draft;
      if (kind === "process.spawned") live.set(proc, row);
      if (endsProcess(kind)) live.delete(proc);
    }
    return [...live.values()].sort((a, b) => a.entry.draft.pid - b.entry.draft.pid).map(toRecord);
  }

  lastSignals(): readonly JournalRecord[] {
    return this.unfinished().flatMap(({ proc }) => {
      const last = this.#rowsOf(proc).findLast((row) => row.entry.draft.kind === "signal");
      return last === undefined ? [] : [toRecord(last)];
    });
  }

  processOf(pid: number): string | undefined {
    const isIt = ({ entry }: Row) => entry.draft.pid === pid && entry.draft.kind === "process.spawned";
    return this.#disk.rows.find(isIt)?.entry.draft.proc;
  }

  highestPid(): number {
    return this.#disk.rows.reduce((highest, row) => Math.max(highest, row.entry.draft.pid), 0);
  }

  highestMessage(): number {
    const seqs = this.#disk.rows.map(({ entry }) => messageOf(entry.draft.kind, entry.body));
    return seqs.reduce((highest, seq) => Math.max(highest, seq), 0);
  }

  close(): void {}

  #rowsOf(proc: string): readonly Row[] {
    return this.#disk.rows.filter((row) => row.entry.draft.proc === proc);
  }
}

function toRecord({ entry, place, epoch }: Row): JournalRecord {
  const { proc, call, ...rest } = entry.draft;
  const record = {
    ...rest,
    proc: proc as ProcUuid,
    ...place,
    epoch,
    at: entry.at,
    body: decodeBody(entry.body),
  };
  return call === undefined ? record : { ...record, call: asCallId(call) };
}
