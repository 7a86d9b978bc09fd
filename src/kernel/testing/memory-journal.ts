/** A journal in memory for tests of the kernel: it assigns lsn and seq, and refuses or waits when the test says so. */
import { Fault } from "../../abi/errors.ts";
import type { Pid, ProcUuid } from "../../abi/ids.ts";
import { EXIT } from "../../abi/process.ts";
import type {
  Journal,
  JournalDraft,
  JournalRecord,
  JournalState,
  ProcessRow,
  RecordKind,
  RowFilter,
} from "../ports/journal.ts";
import { MemoryBlobs } from "./memory-blobs.ts";
import { rowOf } from "./memory-rows.ts";

export class MemoryJournal implements Journal {
  epoch = 1;
  readonly kernelId = "11111111-1111-4111-8111-111111111111";
  readonly records: JournalRecord[] = [];
  /** Kinds for which the disk is full. */
  readonly refused = new Set<RecordKind>();
  /** The first record that cannot be trusted, by process. */
  readonly damaged = new Map<ProcUuid, number>();
  /** Snapshots by process, oldest first. */
  readonly snapshots = new Map<ProcUuid, { seq: number; state: unknown }[]>();
  /** How many pages of histories were read. */
  pagesRead = 0;
  /** The wall clock for records from now on, ms. */
  now = 0;
  /** Appends wait for this promise. */
  gate: Promise<void> = Promise.resolve();
  #noted: JournalDraft[] = [];
  /** Where each note ends in `#noted`: a note is kept whole or not at all. */
  #noteEnds: number[] = [];
  #state: JournalState = { state: "well" };
  readonly #blobs = new MemoryBlobs();
  readonly #requested = new Map<string, JournalRecord>();
  readonly #histories = new Map<ProcUuid, JournalRecord[]>();
  readonly #listeners = new Set<(state: JournalState) => void>();

  async append(
    drafts: readonly JournalDraft[],
    { expect }: { readonly expect?: number } = {},
  ): Promise<readonly { lsn: number; seq: number }[]> {
    const before = this.#noted;
    this.#noted = [];
    this.#noteEnds = [];
    await this.gate;
    for (const draft of before) this.#keep(draft);
    for (const { kind } of drafts) {
      if (this.refused.has(kind)) throw new Fault({ code: "UNAVAILABLE", message: "the disk is full" });
    }
    const first = drafts[0]?.proc;
    if (expect !== undefined && first !== undefined && this.#historyOf(first).length !== expect)
      throw new Fault({ code: "CONFLICT", message: `the history does not end at ${expect}` });
    return drafts.map((draft) => this.#keep(draft));
  }

  note(drafts: readonly JournalDraft[]): void {
    this.#noted.push(...drafts);
    this.#noteEnds.push(this.#noted.length);
  }

  async sync(): Promise<void> {
    await this.append([]);
  }

  /** The daemon dies: noted records are lost, except for the first `kept` notes. */
  crash(kept = 0): void {
    const drafts = this.#noted.slice(0, this.#noteEnds[kept - 1] ?? (kept > 0 ? Infinity : 0));
    this.#noted = [];
    this.#noteEnds = [];
    for (const draft of drafts) this.#keep(draft);
  }

  async read(proc: ProcUuid, fromSeq: number, limit: number): Promise<readonly JournalRecord[]> {
    this.pagesRead++;
    const bad = this.damaged.get(proc) ?? Infinity;
    if (fromSeq >= bad) throw new Fault({ code: "INTERNAL", message: `record ${bad} is damaged` });
    const end = Math.min(fromSeq - 1 + Math.min(limit, 256), bad - 1);
    return this.#seenOf(proc).slice(fromSeq - 1, end);
  }

  async readAt(proc: ProcUuid, seqs: readonly number[]): Promise<readonly JournalRecord[]> {
    this.pagesRead++;
    const bad = this.damaged.get(proc) ?? Infinity;
    const history = this.#seenOf(proc);
    const good = seqs.findIndex((seq) => seq >= bad || history[seq - 1] === undefined);
    if (good === 0) throw new Fault({ code: "INTERNAL", message: `record ${seqs[0]} is damaged` });
    const asked = seqs.slice(0, good < 0 ? 256 : Math.min(good, 256));
    return asked.flatMap((seq) => history[seq - 1] ?? []);
  }

  async openCalls(): Promise<readonly JournalRecord[]> {
    const closed = new Set(this.records.filter((r) => CLOSES_CALL.has(r.kind)).map((r) => r.call));
    return this.records.filter((r) => r.kind === "call.intent" && !closed.has(r.call));
  }

  async unfinished(): Promise<readonly JournalRecord[]> {
    const rows = new Map((await this.rows({ live: true })).map((row) => [row.proc, row]));
    const live = this.records.filter((r) => r.kind === "process.spawned" && rows.has(r.proc));
    return live.sort((a, b) => a.pid - b.pid);
  }

  async liveStates(): Promise<readonly JournalRecord[]> {
    return this.#ofLive((history) => history.filter(({ kind }) => kind === "process.state").slice(-1));
  }

  async liveMail(): Promise<readonly JournalRecord[]> {
    return this.#ofLive((history) => notUndone(history, "mail.put", "mail.done", "seq"));
  }

  async endedMail(): Promise<readonly JournalRecord[]> {
    const rows = await this.rows({});
    const live = new Set(rows.filter(({ exit }) => exit === null).map(({ pid }) => pid));
    const ended = rows.filter(({ exit, ppid }) => exit?.reason === EXIT.completed.reason && live.has(ppid));
    return ended.flatMap(({ proc }) => notUndone(this.#historyOf(proc), "mail.put", "mail.done", "seq"));
  }

  async liveGroups(): Promise<readonly JournalRecord[]> {
    return this.#ofLive((history) => notUndone(history, "group.join", "group.leave", "group"));
  }

  async ofKind(proc: ProcUuid, kind: RecordKind): Promise<readonly JournalRecord[]> {
    return this.#historyOf(proc).filter((record) => record.kind === kind);
  }

  async newest(proc: ProcUuid, kind: RecordKind): Promise<JournalRecord | undefined> {
    return this.#seenOf(proc).findLast((record) => record.kind === kind);
  }

  async requested(id: string): Promise<JournalRecord | undefined> {
    return this.#requested.get(id);
  }

  async rows({ live, session, cwd, before, tree, limit }: RowFilter): Promise<readonly ProcessRow[]> {
    const all = [...this.#histories.keys()].flatMap((proc) => this.#rowOf(proc) ?? []);
    const below = new Set([tree]);
    for (const parent of below) for (const { pid, ppid } of all) if (ppid === parent) below.add(pid);
    const meant = all.filter(
      (row) =>
        (live === undefined || live === (row.exit === null)) &&
        (session === undefined || session === row.isSession) &&
        (cwd === undefined || cwd === row.cwd) &&
        (tree === undefined || below.has(row.pid)) &&
        (before === undefined || row.pid < before),
    );
    if (before !== undefined) return meant.sort((a, b) => b.pid - a.pid).slice(0, limit);
    return limit === undefined ? meant : meant.sort((a, b) => b.lastAt - a.lastAt).slice(0, limit);
  }

  async row(proc: ProcUuid): Promise<ProcessRow | undefined> {
    return this.#rowOf(proc);
  }

  async saveSnapshot(proc: ProcUuid, seq: number, state: unknown): Promise<void> {
    const kept = this.snapshots.get(proc) ?? [];
    this.snapshots.set(proc, [...kept, { seq, state: structuredClone(state) }].slice(-2));
  }

  async snapshot(proc: ProcUuid, atMost = Infinity): Promise<{ seq: number; state: unknown } | undefined> {
    return structuredClone(this.snapshots.get(proc)?.findLast(({ seq }) => seq <= atMost));
  }

  putBlob(bytes: Uint8Array): Promise<string> {
    return this.#blobs.put(bytes);
  }

  getBlob(digest: string): Promise<Uint8Array> {
    return this.#blobs.get(digest);
  }

  get state(): JournalState {
    return this.#state;
  }

  set state(state: JournalState) {
    this.#state = state;
    for (const listener of this.#listeners) listener(state);
  }

  onState(listener: (state: JournalState) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async processOf(pid: Pid): Promise<ProcUuid | undefined> {
    return this.records.find((r) => r.pid === pid && r.kind === "process.spawned")?.proc;
  }

  highestPid(): number {
    return this.records.reduce((highest, { pid }) => Math.max(highest, pid), 0);
  }

  highestMessage(): number {
    const seqs = this.bodies("mail.put").map((body) => Number(body.seq));
    return seqs.reduce((highest, seq) => Math.max(highest, seq), 0);
  }

  async close(): Promise<void> {
    await this.sync();
  }

  /** Kinds of stored and noted records, in order; of one process if `pid` is given. */
  kinds(pid?: number): RecordKind[] {
    return [...this.records, ...this.#noted].filter((r) => r.pid === (pid ?? r.pid)).map((r) => r.kind);
  }

  /** Bodies of stored and noted records. */
  bodies(kind: RecordKind): Record<string, unknown>[] {
    const found = [...this.records, ...this.#noted].filter((r) => r.kind === kind);
    return found.map((r) => r.body as Record<string, unknown>);
  }

  #historyOf(proc: ProcUuid): readonly JournalRecord[] {
    return this.#histories.get(proc) ?? [];
  }

  /** Readers see noted records too, although a crash loses them. */
  #seenOf(proc: ProcUuid): readonly JournalRecord[] {
    const kept = this.#historyOf(proc);
    const noted = this.#noted.filter((draft) => draft.proc === proc);
    if (noted.length === 0) return kept;
    const seen = noted.map((draft, n) => ({
      ...draft,
      lsn: this.records.length + n + 1,
      seq: kept.length + n + 1,
      epoch: this.epoch,
      at: this.now,
    }));
    return [...kept, ...seen];
  }

  #rowOf(proc: ProcUuid): ProcessRow | undefined {
    const row = rowOf(this.#seenOf(proc));
    return row === undefined ? undefined : { ...row, damagedAt: this.damaged.get(proc) ?? null };
  }

  async #ofLive(
    pick: (history: readonly JournalRecord[]) => readonly JournalRecord[],
  ): Promise<readonly JournalRecord[]> {
    return (await this.unfinished()).flatMap(({ proc }) => pick(this.#historyOf(proc)));
  }

  #keep(draft: JournalDraft): { lsn: number; seq: number } {
    const lsn = this.records.length + 1;
    const history = this.#histories.get(draft.proc) ?? [];
    this.#histories.set(draft.proc, history);
    const seq = history.length + 1;
    const body: unknown = structuredClone(draft.body);
    const record = { ...draft, body, lsn, seq, epoch: this.epoch, at: this.now };
    const { request } = (body ?? {}) as { readonly request?: { readonly id?: string } };
    if (request?.id !== undefined) this.#requested.set(request.id, record);
    this.records.push(record);
    history.push(record);
    return { lsn, seq };
  }
}

/** Records of a kind whose key no later record of the other kind names. */
function notUndone(
  history: readonly JournalRecord[],
  kind: RecordKind,
  undoneBy: RecordKind,
  key: string,
): readonly JournalRecord[] {
  const keyOf = ({ body }: JournalRecord) => (body as Record<string, unknown>)[key];
  return history.filter(
    (record) =>
      record.kind === kind &&
      !history.some((r) => r.kind === undoneBy && r.seq > record.seq && keyOf(r) === keyOf(record)),
  );
}

const CLOSES_CALL: ReadonlySet<RecordKind> = new Set(["call.result", "call.unknown"]);
