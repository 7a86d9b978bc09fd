/**
 * Group commit: what is appended and noted in one turn of the event loop is one transaction and one sync.
 * Order: the queue is the order of the journal; notes and appends share it, so none overtakes another.
 * Failure: a refused group (disk full) rejects its appends and keeps its notes for the next group; after a lost one
 * (failed sync) nothing is acknowledged any more. Bound: MAX_WAITING entries or MAX_WAITING_BYTES, then the group is
 * committed at once; notes that a refusing disk cannot take at that bound end the journal, for a history with a hole
 * would be a lie.
 */
import { Fault } from "../abi/errors.ts";
import { asProcUuid, type Pid, type ProcUuid } from "../abi/ids.ts";
import type { Clock } from "../abi/program.ts";
import type { Journal, JournalDraft, JournalRecord } from "../kernel/ports/journal.ts";
import { encodeBody } from "./body.ts";
import { JournalFault, toJournalFault } from "./fault.ts";
import type { Entry, Ledger, Place } from "./ledger.ts";

export const MAX_WAITING = 65_536;
/** Of encoded bodies, counted in characters. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;
const PAGE = 256;
/** How long a note may wait for company before it is committed on its own. */
const NOTE_DELAY_MS = 50;

/** Wall clock and monotonic clock, both ms, both for people. */
export type JournalClock = Pick<Clock, "now" | "mono">;

/** One append or sync: the entries [from, from + count) of the group. */
interface Waiter {
  readonly from: number;
  readonly count: number;
  resolve(places: readonly Place[]): void;
  reject(error: unknown): void;
}

export class GroupJournal implements Journal {
  readonly #ledger: Ledger;
  readonly #clock: JournalClock;
  #entries: Entry[] = [];
  #bytes = 0;
  #waiters: Waiter[] = [];
  /** Indexes in #entries that belong to an append: a refused group forgets exactly these. */
  #appended = new Set<number>();
  #turn: NodeJS.Immediate | undefined;
  #noteTimer: NodeJS.Timeout | undefined;
  #fault: JournalFault | undefined;
  #closed: Promise<void> | undefined;

  constructor(ledger: Ledger, clock: JournalClock) {
    this.#ledger = ledger;
    this.#clock = clock;
  }

  get epoch(): number {
    return this.#ledger.epoch;
  }

  get kernelId(): string {
    return this.#ledger.kernelId;
  }

  append(drafts: readonly JournalDraft[]): Promise<readonly Place[]> {
    try {
      this.#assertUsable();
      // all bodies are encoded before the first is queued: a batch is taken whole or not at all
      const entries = drafts.map((draft) => this.#entry(draft, encodeBody(draft.body)));
      return this.#enqueue(entries);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  note(drafts: readonly JournalDraft[]): void {
    if (this.#closed !== undefined || this.#fault?.isLost === true) return;
    for (const draft of drafts) this.#push(this.#entry(draft, encodeNote(draft.body)));
    if (this.#isFull()) this.#commit();
    else this.#noteTimer ??= setTimeout(() => this.#commit(), NOTE_DELAY_MS);
  }

  sync(): Promise<void> {
    try {
      this.#assertUsable();
      return this.#enqueue([]).then(() => undefined);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async read(proc: ProcUuid, fromSeq: number, limit: number): Promise<readonly JournalRecord[]> {
    const count = Math.max(0, Math.min(PAGE, Math.trunc(limit)));
    return this.#ask(() => (count === 0 ? [] : this.#ledger.read(proc, fromSeq, count)));
  }

  async openCalls(): Promise<readonly JournalRecord[]> {
    return this.#ask(() => this.#ledger.openCalls());
  }

  async unfinished(): Promise<readonly JournalRecord[]> {
    return this.#ask(() => this.#ledger.unfinished());
  }

  async lastSignals(): Promise<readonly JournalRecord[]> {
    return this.#ask(() => this.#ledger.lastSignals());
  }

  async processOf(pid: Pid): Promise<ProcUuid | undefined> {
    const found = await this.#ask(() => this.#ledger.processOf(pid));
    return found === undefined ? undefined : asProcUuid(found);
  }

  highestPid(): number {
    return this.#ledger.highestPid();
  }

  highestMessage(): number {
    return this.#ledger.highestMessage();
  }

  health(): { ok: true } | { ok: false; reason: string } {
    if (this.#fault !== undefined) return { ok: false, reason: this.#fault.message };
    return this.#closed === undefined ? { ok: true } : { ok: false, reason: "the journal is closed" };
  }

  close(): Promise<void> {
    this.#closed ??= this.#end();
    return this.#closed;
  }

  async #end(): Promise<void> {
    const hadEntries = this.#entries.length > 0;
    this.#commit();
    const unsynced = hadEntries ? this.#fault : undefined;
    this.#disarm();
    this.#entries = [];
    try {
      this.#ledger.close();
    } catch (error) {
      throw toJournalFault(error);
    }
    if (unsynced !== undefined) throw unsynced;
  }

  #assertUsable(): void {
    if (this.#closed !== undefined)
      throw new Fault({ code: "UNAVAILABLE", message: "the journal is closed" });
    if (this.#fault?.isLost === true) throw this.#fault;
  }

  /** Reads see what was written before them, also what still waited. A disk that refuses does not stop reading. */
  #ask<T>(answer: () => T): T {
    if (this.#closed !== undefined)
      throw new Fault({ code: "UNAVAILABLE", message: "the journal is closed" });
    this.#commit();
    try {
      return answer();
    } catch (error) {
      throw toJournalFault(error);
    }
  }

  #entry(draft: JournalDraft, body: string): Entry {
    const { proc, pid, kind, v, call } = draft;
    const kept = call === undefined ? { proc, pid, kind, v } : { proc, pid, kind, v, call };
    return { draft: kept, body, at: this.#clock.now(), mono: this.#clock.mono() };
  }

  #push(entry: Entry): void {
    this.#entries.push(entry);
    this.#bytes += entry.body.length;
  }

  #enqueue(entries: readonly Entry[]): Promise<readonly Place[]> {
    const { promise, resolve, reject } = Promise.withResolvers<readonly Place[]>();
    const from = this.#entries.length;
    for (const entry of entries) {
      this.#appended.add(this.#entries.length);
      this.#push(entry);
    }
    this.#waiters.push({ from, count: entries.length, resolve, reject });
    if (this.#isFull()) this.#commit();
    else this.#turn ??= setImmediate(() => this.#commit());
    return promise;
  }

  #isFull(): boolean {
    return this.#entries.length >= MAX_WAITING || this.#bytes >= MAX_WAITING_BYTES;
  }

  #disarm(): void {
    clearImmediate(this.#turn);
    clearTimeout(this.#noteTimer);
    this.#turn = undefined;
    this.#noteTimer = undefined;
  }

  /** Never throws: failure goes to the waiters and to health(). */
  #commit(): void {
    this.#disarm();
    const waiters = this.#waiters;
    if (this.#entries.length === 0 && waiters.length === 0) return;
    this.#waiters = [];
    try {
      if (this.#fault?.isLost === true) throw this.#fault;
      const places = this.#entries.length === 0 ? [] : this.#ledger.commit(this.#entries);
      this.#forget(() => false);
      this.#fault = undefined;
      for (const waiter of waiters) waiter.resolve(places.slice(waiter.from, waiter.from + waiter.count));
    } catch (error) {
      this.#fail(toJournalFault(error), waiters);
    }
  }

  #fail(fault: JournalFault, waiters: readonly Waiter[]): void {
    const appended = this.#appended;
    this.#forget((index) => !fault.isLost && !appended.has(index));
    this.#fault = fault;
    if (this.#isFull()) {
      this.#fault = new JournalFault("journal_damaged", `${this.#entries.length} notes were lost`, fault);
      this.#forget(() => false);
    }
    for (const waiter of waiters) waiter.reject(this.#fault);
  }

  #forget(keep: (index: number) => boolean): void {
    this.#entries = this.#entries.filter((_, index) => keep(index));
    this.#bytes = this.#entries.reduce((sum, entry) => sum + entry.body.length, 0);
    this.#appended = new Set();
  }
}

/** A note cannot be refused: a body that may not be kept leaves a record that says so, and no gap. */
function encodeNote(body: unknown): string {
  try {
    return encodeBody(body);
  } catch (error) {
    return encodeBody({ omitted: error instanceof Error ? error.message : String(error) });
  }
}
