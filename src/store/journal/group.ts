/** The journal on top of a ledger: it encodes bodies on the way in and decodes them on the way out; a queue commits. */
import { Fault } from "../../abi/errors.ts";
import { asProcUuid, type Pid, type ProcUuid } from "../../abi/ids.ts";
import type {
  Journal,
  JournalDraft,
  JournalRecord,
  JournalState,
  ProcessRow,
  RowFilter,
} from "../../kernel/ports/journal.ts";
import { JournalFault, toJournalFault } from "../fault.ts";
import { MAX_BLOB_BYTES, makeBlob } from "./blobs.ts";
import { decodeBody, type EncodedBody, encodeBody } from "./body.ts";
import type { StoredRecord } from "./chain.ts";
import { factOf } from "./fact.ts";
import { GroupQueue } from "./group-queue.ts";
import type { JournalClock } from "./journal-clock.ts";
import type { Entry, Ledger, LedgerReader, RecordPosition } from "./ledger.ts";
import type { OnNotice } from "./notice.ts";
import { CheckedHistory, type CheckedPage, DamagedRecord } from "./page.ts";
import { toProcessRow } from "./row.ts";
import { toRecord } from "./stored.ts";

const PAGE = 256;
const PAGE_BYTES = 8 * 1024 * 1024;
const MAX_SNAPSHOT_BYTES = 8 * 1024 * 1024;

export class GroupJournal implements Journal {
  readonly #ledger: Ledger;
  readonly #clock: JournalClock;
  readonly #queue: GroupQueue;
  #closed: Promise<void> | undefined;

  constructor(ledger: Ledger, clock: JournalClock, onNotice: OnNotice = () => {}) {
    this.#ledger = ledger;
    this.#clock = clock;
    this.#queue = new GroupQueue(ledger, clock, onNotice);
  }

  get acknowledgedLsn(): number {
    return this.#ledger.acknowledgedLsn;
  }

  get epoch(): number {
    return this.#ledger.epoch;
  }

  get kernelId(): string {
    return this.#ledger.kernelId;
  }

  get state(): JournalState {
    return this.#queue.health.state;
  }

  onState(listener: (state: JournalState) => void): () => void {
    return this.#queue.health.onState(listener);
  }

  async append(
    drafts: readonly JournalDraft[],
    options: { readonly expect?: number } = {},
  ): Promise<readonly RecordPosition[]> {
    this.#assertTaking();
    // all bodies are encoded before the batch is queued, so that a bad body refuses the whole batch
    const entries = drafts.map((draft) => this.#entry(draft, encodeBody(draft.body)));
    const verdict = await this.#queue.enqueue({ entries, ...options });
    if ("code" in verdict) throw new Fault(verdict);
    return verdict;
  }

  note(drafts: readonly JournalDraft[]): void {
    if (this.#closed !== undefined) return;
    this.#queue.push(drafts.map((draft) => this.#entry(draft, encodeNote(draft.body))));
  }

  async sync(): Promise<void> {
    this.#assertTaking();
    await this.#queue.enqueue({ entries: [] });
  }

  async read(proc: ProcUuid, fromSeq: number, limit: number): Promise<readonly JournalRecord[]> {
    const count = Math.max(0, Math.min(PAGE, Math.trunc(limit)));
    const from = Math.max(1, Math.trunc(fromSeq));
    const most = { records: Math.max(1, count), chars: PAGE_BYTES };
    const checked = await this.#ask((reader) => new CheckedHistory(reader, proc).page(from, most));
    return this.#trusted(proc, checked, count);
  }

  async readAt(proc: ProcUuid, seqs: readonly number[]): Promise<readonly JournalRecord[]> {
    if (seqs.length === 0) return [];
    const asked = seqs.slice(0, PAGE);
    const checked = await this.#ask((reader) => new CheckedHistory(reader, proc).picked(asked, PAGE_BYTES));
    return this.#trusted(proc, checked, asked.length);
  }

  /** The page's trusted records, at most `most`; records the position of damage in the ledger. */
  async #trusted(
    proc: ProcUuid,
    { good, damagedAt: at }: CheckedPage,
    most: number,
  ): Promise<readonly JournalRecord[]> {
    const { records, damage } = await this.#decodePage(good.slice(0, most));
    const damagedAt = damage?.seq ?? at;
    const isCut = damage === undefined && records.length < good.length;
    if (damagedAt === null || isCut) return records;
    await this.#ledger.markDamaged(proc, damagedAt).catch(() => {});
    if (records.length === 0) throw damage ?? new DamagedRecord(proc, damagedAt);
    return records;
  }

  openCalls(): Promise<readonly JournalRecord[]> {
    return this.#list((reader) => reader.list("openCalls"));
  }

  unfinished(): Promise<readonly JournalRecord[]> {
    return this.#list((reader) => reader.list("unfinished"));
  }

  liveStates(): Promise<readonly JournalRecord[]> {
    return this.#list((reader) => reader.list("liveStates"));
  }

  liveMail(): Promise<readonly JournalRecord[]> {
    return this.#list((reader) => reader.list("liveMail"));
  }

  endedMail(): Promise<readonly JournalRecord[]> {
    return this.#list((reader) => reader.list("endedMail"));
  }

  liveGroups(): Promise<readonly JournalRecord[]> {
    return this.#list((reader) => reader.list("liveGroups"));
  }

  ofKind(proc: ProcUuid, kind: Parameters<Journal["ofKind"]>[1]): Promise<readonly JournalRecord[]> {
    return this.#list((reader) => reader.ofKind(proc, kind));
  }

  async newest(proc: ProcUuid, kind: Parameters<Journal["newest"]>[1]): Promise<JournalRecord | undefined> {
    return (await this.#list((reader) => reader.newest(proc, kind)))[0];
  }

  async requested(id: string): Promise<JournalRecord | undefined> {
    return (await this.#list((reader) => reader.requested(id)))[0];
  }

  async rows(filter: RowFilter): Promise<readonly ProcessRow[]> {
    const rows = await this.#ask((reader) => reader.rows(filter));
    return rows.flatMap((row) => toProcessRow(row) ?? []);
  }

  async row(proc: ProcUuid): Promise<ProcessRow | undefined> {
    const row = await this.#ask((reader) => reader.row(proc));
    return row === undefined ? undefined : toProcessRow(row);
  }

  async processOf(pid: Pid): Promise<ProcUuid | undefined> {
    const found = await this.#ask((reader) => reader.processOf(pid));
    return found === undefined ? undefined : asProcUuid(found);
  }

  highestPid(): number {
    return this.#queue.highest.pid;
  }

  highestMessage(): number {
    return this.#queue.highest.message;
  }

  async saveSnapshot(proc: ProcUuid, seq: number, state: unknown): Promise<void> {
    try {
      const text = JSON.stringify(state);
      if (text === undefined || Buffer.byteLength(text) > MAX_SNAPSHOT_BYTES) return;
      // a snapshot must not cover records that a crash could undo
      await this.sync();
      await this.#ledger.saveSnapshot(proc, seq, text);
    } catch {
      // a snapshot is only a cache: the records remain
    }
  }

  async snapshot(proc: ProcUuid, atMost?: number): Promise<{ seq: number; state: unknown } | undefined> {
    const [found] = await this.#ask((reader) => {
      const last = reader.row(proc)?.lastSeq ?? 0;
      return reader.snapshots(proc, Math.min(last, Math.trunc(atMost ?? last)));
    });
    return found === undefined ? undefined : { seq: found.seq, state: JSON.parse(found.state) as unknown };
  }

  async putBlob(bytes: Uint8Array): Promise<string> {
    this.#assertTaking();
    if (bytes.byteLength > MAX_BLOB_BYTES) {
      const message = `a blob has at most ${MAX_BLOB_BYTES} bytes, not ${bytes.byteLength}`;
      throw new Fault({ code: "INVALID", message });
    }
    const blob = makeBlob(bytes);
    try {
      await this.#ledger.putBlob(blob);
    } catch (error) {
      const fault = toJournalFault(error);
      this.#queue.degrade(fault);
      throw fault;
    }
    return blob.digest;
  }

  async getBlob(digest: string): Promise<Uint8Array> {
    this.#assertOpen();
    return this.#ledger.getBlob(digest);
  }

  close(): Promise<void> {
    this.#closed ??= this.#end();
    return this.#closed;
  }

  async #end(): Promise<void> {
    try {
      await this.#queue.close();
    } finally {
      await this.#ledger.close().catch((error: unknown) => {
        throw toJournalFault(error);
      });
    }
  }

  #assertOpen(): void {
    if (this.#closed === undefined) return;
    throw new Fault({ code: "UNAVAILABLE", message: "the journal is closed" });
  }

  #assertTaking(): void {
    this.#assertOpen();
    const { fault } = this.#queue.health;
    if (fault !== undefined) throw fault;
  }

  /**
   * Reads see everything written before them, including queued records. A disk that refuses writes does not stop reads.
   */
  async #ask<T>(answer: (reader: LedgerReader) => T): Promise<T> {
    this.#assertOpen();
    await this.#queue.settle();
    this.#assertOpen();
    return answer(this.#ledger.reader);
  }

  async #list(answer: (reader: LedgerReader) => readonly StoredRecord[]): Promise<readonly JournalRecord[]> {
    const records: JournalRecord[] = [];
    for (const stored of await this.#ask(answer)) records.push(toRecord(stored, await this.#decode(stored)));
    return records;
  }

  /** Blobs count towards PAGE_BYTES: a page is bounded whatever blobs its records name. */
  async #decodePage(
    page: readonly StoredRecord[],
  ): Promise<{ records: readonly JournalRecord[]; damage?: DamagedRecord }> {
    const records: JournalRecord[] = [];
    let bytes = 0;
    for (const stored of page) {
      let own = stored.body.length;
      const count = (blob: Uint8Array): void => {
        own += blob.byteLength;
      };
      try {
        const body = await this.#decode(stored, count);
        bytes += own;
        if (records.length > 0 && bytes > PAGE_BYTES) break;
        records.push(toRecord(stored, body));
      } catch (error) {
        if (!(error instanceof DamagedRecord)) throw error;
        return { records, damage: error };
      }
    }
    return { records };
  }

  #decode({ proc, seq, body }: StoredRecord, count?: (blob: Uint8Array) => void): unknown {
    return decodeBody(body, async (digest) => {
      const blob = await this.#ledger.getBlob(digest).catch((error: unknown) => {
        throw error instanceof JournalFault ? error : new DamagedRecord(proc, seq, error);
      });
      count?.(blob);
      return blob;
    });
  }

  #entry(draft: JournalDraft, encoded: EncodedBody): Entry {
    const { proc, pid, kind, v, call = null } = draft;
    const { text: body, names, blobs } = encoded;
    const fact = factOf(draft) ?? null;
    return {
      proc,
      pid,
      kind,
      v,
      call,
      at: this.#clock.now(),
      mono: this.#clock.mono(),
      body,
      fact,
      names,
      blobs,
    };
  }
}

/** A note cannot be refused: an invalid body is replaced by a record of the reason, so that no gap arises. */
function encodeNote(body: unknown): EncodedBody {
  try {
    return encodeBody(body);
  } catch (error) {
    return encodeBody({ omitted: error instanceof Error ? error.message : String(error) });
  }
}
