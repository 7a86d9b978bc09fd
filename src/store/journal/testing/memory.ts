/** A journal in memory, for tests: it fulfils the same contract as the one on disk. */
import { randomUUID } from "node:crypto";
import { agentIdOf } from "../../../abi/child.ts";
import { Fault } from "../../../abi/errors.ts";
import type { ProcUuid } from "../../../abi/ids.ts";
import { EXIT } from "../../../abi/process.ts";
import type { Journal, RecordKind, RowFilter } from "../../../kernel/ports/journal.ts";
import { systemClock } from "../../../lib/time/system-clock.ts";
import type { Blob } from "../body.ts";
import { chainHash, genesis, type StoredRecord } from "../chain.ts";
import { GroupJournal } from "../group.ts";
import type { JournalClock } from "../journal-clock.ts";
import {
  type Batch,
  type BatchVerdict,
  boundedRows,
  type ChainedRecord,
  type Entry,
  type Ledger,
  type LedgerReader,
  type PageBound,
  type Picked,
  type PickedRecord,
  type RecordList,
  type RecordPosition,
  SNAPSHOTS_KEPT,
} from "../ledger.ts";
import { endsCall, messageOf } from "../record-kind.ts";
import { emptyRow, foldRow, type Row } from "../row.ts";

const REQUESTED: ReadonlySet<string> = new Set(["process.spawned", "process.state", "mail.put"]);

/** Stands for a state directory: pass the same one to a second openMemoryJournal to reopen the journal. */
export class MemoryDisk {
  readonly kernelId = randomUUID();
  epoch = 0;
  /** The records by lsn: index n has lsn n + 1. */
  readonly records: ChainedRecord[] = [];
  readonly processes = new Map<string, { row: Row; history: ChainedRecord[] }>();
  /** Keyed by process and call, message or group, like the tables of journal.db. */
  readonly open = new Map<string, ChainedRecord>();
  readonly mail = new Map<string, ChainedRecord>();
  readonly members = new Map<string, ChainedRecord>();
  readonly snapshots = new Map<string, { seq: number; state: string }[]>();
  readonly blobs = new Map<string, Uint8Array>();
  highest = { pid: 0, message: 0 };
}

export function openMemoryJournal(disk = new MemoryDisk(), clock: JournalClock = systemClock): Journal {
  return new GroupJournal(new MemoryLedger(disk), clock);
}

export class MemoryLedger implements Ledger {
  readonly epoch: number;
  readonly kernelId: string;
  readonly path = ":memory:";
  readonly acknowledgedLsn = Number.POSITIVE_INFINITY;
  readonly highest: Ledger["highest"];
  readonly reader: LedgerReader;
  readonly #disk: MemoryDisk;

  constructor(disk: MemoryDisk) {
    disk.epoch += 1;
    this.#disk = disk;
    this.epoch = disk.epoch;
    this.kernelId = disk.kernelId;
    this.highest = { ...disk.highest };
    this.reader = new MemoryReader(disk);
  }

  async commit(batches: readonly Batch[]): Promise<readonly BatchVerdict[]> {
    return batches.map((batch) => this.#take(batch));
  }

  async saveSnapshot(proc: string, seq: number, state: string): Promise<void> {
    const others = (this.#disk.snapshots.get(proc) ?? []).filter((each) => each.seq !== seq);
    const newest = [...others, { seq, state }].sort((a, b) => b.seq - a.seq);
    this.#disk.snapshots.set(proc, newest.slice(0, SNAPSHOTS_KEPT));
  }

  async markDamaged(proc: string, seq: number): Promise<void> {
    const found = this.#disk.processes.get(proc);
    if (found !== undefined) found.row.damagedAt = Math.min(found.row.damagedAt ?? seq, seq);
  }

  async putBlob({ digest, bytes }: Blob): Promise<void> {
    this.#disk.blobs.set(digest, bytes.slice());
  }

  async getBlob(digest: string): Promise<Uint8Array> {
    const found = this.#disk.blobs.get(digest);
    if (found === undefined)
      throw new Fault({ code: "NOT_FOUND", message: `no blob ${digest.slice(0, 100)}` });
    return found;
  }

  onLost(): void {}

  async close(): Promise<void> {}

  #take({ entries, expect }: Batch): BatchVerdict {
    const [first] = entries;
    if (first === undefined) return [];
    const { lastSeq } = this.#processOf(first.proc).row;
    if (expect !== undefined && lastSeq !== expect)
      return { code: "CONFLICT", message: `the history ends with record ${lastSeq}, not with ${expect}` };
    const isOrphan = ({ fact }: Entry): boolean =>
      fact?.is === "forked" && this.#disk.processes.get(fact.from)?.history[fact.at - 1] === undefined;
    if (entries.some(isOrphan)) return { code: "NOT_FOUND", message: "a fork of a record that is not there" };
    return entries.map((entry) => this.#insert(entry));
  }

  #insert(entry: Entry): RecordPosition {
    const { proc, pid, kind, v, call, at, mono, body, fact, blobs } = entry;
    for (const { digest, bytes } of blobs) this.#disk.blobs.set(digest, bytes);
    const { row, history } = this.#processOf(proc);
    const lsn = this.#disk.records.length + 1;
    const seq = row.lastSeq + 1;
    const stored: StoredRecord = { lsn, proc, pid, seq, epoch: this.epoch, kind, v, call, at, mono, body };
    foldRow(row, stored, fact);
    const previous = seq === 1 ? this.reader.hashBefore(proc, 1) : row.lastHash;
    row.lastHash = chainHash(previous ?? row.lastHash, stored);
    const record = { ...stored, hash: row.lastHash };
    history.push(record);
    this.#disk.records.push(record);
    this.#list(record, entry);
    return { lsn, seq };
  }

  #list(record: ChainedRecord, { proc, pid, kind, call, fact }: Entry): void {
    const { open, mail, members, highest } = this.#disk;
    highest.pid = Math.max(highest.pid, pid);
    highest.message = Math.max(highest.message, messageOf(fact));
    if (call !== null && kind === "call.intent") open.set(`${proc} ${call}`, record);
    if (call !== null && endsCall(kind)) open.delete(`${proc} ${call}`);
    if (fact?.is === "mail") mail.set(`${proc} ${fact.message}`, record);
    if (fact?.is === "read") mail.delete(`${proc} ${fact.message}`);
    if (fact?.is === "joined") members.set(`${proc} ${fact.group}`, record);
    if (fact?.is === "left") members.delete(`${proc} ${fact.group}`);
  }

  #processOf(proc: string): { row: Row; history: ChainedRecord[] } {
    const found = this.#disk.processes.get(proc);
    if (found !== undefined) return found;
    const made = { row: emptyRow(proc, genesis(this.kernelId, proc)), history: [] };
    this.#disk.processes.set(proc, made);
    return made;
  }
}

class MemoryReader implements LedgerReader {
  readonly #disk: MemoryDisk;

  constructor(disk: MemoryDisk) {
    this.#disk = disk;
  }

  page(proc: string, fromSeq: number, most: PageBound): readonly ChainedRecord[] {
    const page: ChainedRecord[] = [];
    let chars = 0;
    const history = this.#disk.processes.get(proc)?.history ?? [];
    for (const record of history.slice(fromSeq - 1, fromSeq - 1 + most.records)) {
      chars += record.body.length;
      if (page.length > 0 && chars > most.chars) break;
      page.push(record);
    }
    return page;
  }

  pick(proc: string, seqs: readonly number[], maxChars: number): Picked {
    const history = this.#disk.processes.get(proc)?.history ?? [];
    const records: PickedRecord[] = [];
    let chars = 0;
    for (const record of seqs.flatMap((seq) => history[seq - 1] ?? [])) {
      chars += record.body.length;
      if (records.length > 0 && chars > maxChars) return { records, isCut: true };
      records.push({ ...record, before: history[record.seq - 2]?.hash });
    }
    return { records, isCut: false };
  }

  hashBefore(proc: string, seq: number): Uint8Array | undefined {
    const found = this.#disk.processes.get(proc);
    if (seq > 1) return found?.history[seq - 2]?.hash;
    const forked = found?.row.forkedFrom ?? null;
    const plain = genesis(this.#disk.kernelId, proc);
    return forked === null
      ? plain
      : (this.#disk.processes.get(forked.proc)?.history[forked.at - 1]?.hash ?? plain);
  }

  list(name: RecordList): readonly StoredRecord[] {
    switch (name) {
      case "openCalls":
        return [...this.#disk.open.values()].sort((a, b) => a.lsn - b.lsn);
      case "unfinished":
        return this.#ofLive(({ spawnedLsn }) => spawnedLsn);
      case "liveStates":
        return this.#ofLive(({ stateLsn }) => stateLsn);
      case "liveMail":
        return this.#listed(this.#disk.mail);
      case "liveGroups":
        return this.#listed(this.#disk.members);
      case "endedMail":
        return this.#listed(this.#disk.mail, (row) => this.#isBelowLive(row));
    }
  }

  ofKind(proc: string, kind: RecordKind): readonly StoredRecord[] {
    return this.#disk.processes.get(proc)?.history.filter((record) => record.kind === kind) ?? [];
  }

  newest(proc: string, kind: RecordKind): readonly StoredRecord[] {
    return this.ofKind(proc, kind).slice(-1);
  }

  requested(id: string): readonly StoredRecord[] {
    const isIt = ({ kind, body }: StoredRecord): boolean =>
      REQUESTED.has(kind) && JSON.parse(body)?.request?.id === id;
    return this.#disk.records.filter(isIt).slice(-1);
  }

  rows({ live, session, cwd, before, tree, agent, limit }: RowFilter): readonly Row[] {
    const below = tree === undefined ? undefined : this.#below(tree);
    const isIt = (row: Row): boolean =>
      row.spawned !== null &&
      (live === undefined || live === isLive(row)) &&
      (session === undefined || session === row.spawned.isSession) &&
      (cwd === undefined || cwd === row.spawned.cwd) &&
      (before === undefined || row.pid < before) &&
      (agent === undefined || agentIdOf(row.proc as ProcUuid) === agent) &&
      (below === undefined || below.has(row.pid));
    const found = this.#rows().filter(isIt);
    found.sort((a, b) => (before === undefined ? b.lastLsn - a.lastLsn : b.pid - a.pid));
    const most = limit === undefined && live === true ? found.length : boundedRows(limit);
    return found.slice(0, most).map((row) => ({ ...row }));
  }

  row(proc: string): Row | undefined {
    const found = this.#disk.processes.get(proc);
    return found === undefined || found.row.lastSeq === 0 ? undefined : { ...found.row };
  }

  lastSeq(proc: string): number | undefined {
    return this.row(proc)?.lastSeq;
  }

  processOf(pid: number): string | undefined {
    const found = this.#rows().filter((row) => row.pid === pid && row.spawned !== null);
    return found.sort((a, b) => b.lastLsn - a.lastLsn)[0]?.proc;
  }

  snapshots(proc: string, atMost: number): readonly { seq: number; state: string }[] {
    return (this.#disk.snapshots.get(proc) ?? []).filter(({ seq }) => seq <= atMost);
  }

  #below(pid: number): ReadonlySet<number> {
    const found = new Set([pid]);
    for (const parent of found)
      for (const row of this.#rows()) if (row.spawned?.ppid === parent) found.add(row.pid);
    return found;
  }

  #rows(): Row[] {
    return [...this.#disk.processes.values()].map(({ row }) => row);
  }

  #ofLive(lsnOf: (row: Row) => number): readonly StoredRecord[] {
    const live = this.#rows().filter((row) => isLive(row) && lsnOf(row) > 0);
    return live.sort((a, b) => a.pid - b.pid).flatMap((row) => this.#disk.records[lsnOf(row) - 1] ?? []);
  }

  #listed(list: ReadonlyMap<string, ChainedRecord>, isMeant = isLive): readonly StoredRecord[] {
    const isOfMeant = ({ proc }: StoredRecord): boolean => {
      const found = this.#disk.processes.get(proc);
      return found !== undefined && isMeant(found.row);
    };
    return [...list.values()].filter(isOfMeant).sort((a, b) => a.lsn - b.lsn);
  }

  /** It completed, and its parent has not ended. */
  #isBelowLive({ spawned, exit }: Row): boolean {
    if (spawned === null || exit?.reason !== EXIT.completed.reason) return false;
    return this.#rows().some((row) => row.pid === spawned.ppid && isLive(row));
  }
}

/** Whether the process was spawned and has not ended, according to its records. */
function isLive(row: Row): boolean {
  return row.spawned !== null && row.exit === null;
}
