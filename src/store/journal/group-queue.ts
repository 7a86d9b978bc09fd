/**
 * Group commit: while one group is committed, the next one gathers. Appends and notes share one queue, whose order is
 * the order of the journal.
 * Failure: if the disk refuses a group (disk full), its appends are rejected and its notes stay queued; the journal is
 * degraded until the disk accepts a group again, which is retried every 5 s. After a lost group (failed sync) no record
 * is acknowledged any more.
 * Bound: MAX_WAITING records or MAX_WAITING_BYTES. An append beyond the bound waits in the queue, and so does its
 * caller; if notes reach the bound while the disk refuses groups, the journal is lost, because a history must have no
 * gaps.
 */
import { timeSlice } from "../../lib/time/time-slice.ts";
import { JournalFault, toJournalFault } from "../fault.ts";
import { Health } from "./health.ts";
import type { JournalClock } from "./journal-clock.ts";
import type { Batch, BatchVerdict, CommitMode, Entry, Ledger } from "./ledger.ts";
import type { OnNotice } from "./notice.ts";
import { messageOf } from "./record-kind.ts";
import { Watch } from "./watch.ts";

export const MAX_WAITING = 65_536;
/** Encoded bodies and blobs together. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;
/** The largest group; a larger batch is a group of its own. */
const GROUP_RECORDS = 2_048;
const GROUP_BYTES = 4 * 1024 * 1024;
/** How long a note may wait for other records before it is committed on its own. */
const NOTE_DELAY_MS = 50;
const RETRY_MS = 5_000;
/**
 * Of one round of the event loop for callers that are answered: each goes on at once, for some milliseconds, and all of them would
 * hold it. A client waits for those of beginnings and ends.
 */
const ANSWERS_MS = 2;
const AWAITED_MS = 4;

/** What one call put into the queue. An item without a waiter consists of notes, which are never refused. */
interface Item extends Batch {
  readonly bytes: number;
  readonly waiter?: Waiter;
}

interface Waiter {
  resolve(verdict: BatchVerdict): void;
  reject(fault: JournalFault): void;
}

export class GroupQueue {
  readonly health: Health;
  /** The highest numbers ever used, according to the disk; raised before the waiters resolve. */
  readonly highest: { pid: number; message: number };
  readonly #ledger: Ledger;
  readonly #clock: JournalClock;
  readonly #ending = new AbortController();
  readonly #watch: Watch;
  readonly #answers = timeSlice(ANSWERS_MS);
  /** A client waits for the beginning of a process and for its end, whatever agents at work wait for. */
  readonly #awaited = timeSlice(AWAITED_MS);
  #items: Item[] = [];
  #records = 0;
  #bytes = 0;
  #turn: NodeJS.Immediate | undefined;
  #noteTimer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #isRetrying = false;
  #retryIsDue = false;
  /** The reserved space is used up as well. */
  #reserveIsSpent = false;

  constructor(ledger: Ledger, clock: JournalClock, onNotice: OnNotice) {
    this.#ledger = ledger;
    this.#clock = clock;
    this.highest = { ...ledger.highest };
    this.health = new Health(ledger.path);
    this.#watch = new Watch(clock, this.#ending.signal, {
      onSlow(ms) {
        const message = `a commit to ${ledger.path} has taken over ${Math.floor(ms / 1000)} s`;
        onNotice({ event: "journal.slow", message });
      },
      onHung: () => this.degrade(new JournalFault("journal_slow", `${ledger.path}: a commit hangs`)),
    });
    ledger.onLost((fault) => this.degrade(fault));
  }

  /** Queues entries for which no caller waits. */
  push(entries: readonly Entry[]): void {
    const { fault } = this.health;
    if (fault?.isLost === true) return;
    this.#add({ entries, bytes: bytesOf(entries) });
    if (this.#isOver() && fault !== undefined) this.#lose(this.#holed(fault));
    else if (this.#records >= GROUP_RECORDS || this.#bytes >= GROUP_BYTES) this.#pump();
    else this.#noteLater();
  }

  /** Resolves once the batch and everything queued before it are synced. Rejects with JournalFault. */
  enqueue(batch: Batch): Promise<BatchVerdict> {
    const { promise, resolve, reject } = Promise.withResolvers<BatchVerdict>();
    this.#enter(batch, { resolve, reject });
    return promise;
  }

  /** Resolves when everything pushed before is on disk, or cannot be written now. */
  async settle(): Promise<void> {
    if (this.#records === 0 && this.#running === undefined) return;
    if (this.health.fault !== undefined && this.#mode() === null) return;
    const { promise, resolve } = Promise.withResolvers<BatchVerdict>();
    this.#enter({ entries: [] }, { resolve, reject: () => resolve([]) });
    await promise;
  }

  /** Commits the queued items. Rejects with the fault that kept a record from the disk. */
  async close(): Promise<void> {
    const hadRecords = this.#records > 0;
    this.#ending.abort();
    do {
      this.#pump();
      await this.#running;
    } while (this.#items.length > 0 && this.#mode() !== null);
    // items that the disk refused are tried once more
    if (this.#records > 0 && this.health.fault?.isLost === false) await this.#commitGroup("reserve");
    const { fault } = this.health;
    const isUnsynced = hadRecords && (this.#records > 0 || fault?.isLost === true);
    this.#disarm();
    this.#take(Infinity, Infinity);
    if (isUnsynced && fault !== undefined) throw fault;
  }

  /** Enters the state that follows from `fault`; also called for a fault that occurred outside the queue. */
  degrade(fault: JournalFault): void {
    if (this.health.fault?.isLost === true) return;
    if (!fault.isLost) this.#rejectWaiting(fault);
    if (fault.isLost) this.#lose(fault);
    else if (this.#isOver()) this.#lose(this.#holed(fault));
    else this.#await(fault);
  }

  #await(fault: JournalFault): void {
    if (this.health.fault === undefined) this.#reserveIsSpent = false;
    this.health.become(fault);
    if (!this.#isRetrying) void this.#retry();
  }

  #add(item: Item): void {
    this.#items.push(item);
    this.#count(item, 1);
  }

  #count({ entries, bytes }: Item, sign: 1 | -1): void {
    this.#records += sign * entries.length;
    this.#bytes += sign * bytes;
  }

  #enter(batch: Batch, waiter: Waiter): void {
    this.#add({ ...batch, bytes: bytesOf(batch.entries), waiter });
    // a round of the event loop is long beside many agents: what a client waits for is on its way to the disk meanwhile
    if (this.#isOver() || batch.entries.some(isBeginning)) this.#pump();
    else this.#turn ??= setImmediate(() => this.#pump());
  }

  #isOver(): boolean {
    return this.#records >= MAX_WAITING || this.#bytes >= MAX_WAITING_BYTES;
  }

  #noteLater(): void {
    this.#noteTimer ??= setTimeout(() => this.#pump(), NOTE_DELAY_MS);
  }

  #disarm(): void {
    clearImmediate(this.#turn);
    clearTimeout(this.#noteTimer);
    this.#turn = undefined;
    this.#noteTimer = undefined;
  }

  #pump(): void {
    this.#disarm();
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
      // items that arrived at the very end of the run
      if (this.#isDue()) this.#pump();
      else if (this.#records > 0 && this.#mode() !== null) this.#noteLater();
    });
  }

  /** Commits one group, then more while a caller waits. Never rejects: failures go to the waiters and to `health`. */
  async #run(): Promise<void> {
    if (this.#items.length === 0 && !this.#retryIsDue) return;
    do {
      const mode = this.#mode();
      if (mode === null) return;
      await this.#commitGroup(mode);
    } while (this.#isDue());
  }

  /** Whether a caller waits, a retry is due, or there is enough for a group. */
  #isDue(): boolean {
    if (this.#mode() === null) return false;
    if (this.#retryIsDue || this.#records >= GROUP_RECORDS || this.#bytes >= GROUP_BYTES) return true;
    return this.#items.some(({ waiter }) => waiter !== undefined);
  }

  /** null: no commit is tried now. */
  #mode(): CommitMode | null {
    const { fault } = this.health;
    if (fault === undefined) return "normal";
    if (fault.isLost) return null;
    if (this.#retryIsDue) return "retry";
    return fault.reason === "journal_full" && !this.#reserveIsSpent ? "reserve" : null;
  }

  async #commitGroup(mode: CommitMode): Promise<void> {
    this.#retryIsDue = false;
    const group = this.#take(GROUP_RECORDS, GROUP_BYTES);
    this.#watch.begin();
    try {
      this.#taken(group, await this.#commit(group, mode));
      if (mode !== "reserve") this.health.become(undefined);
    } catch (error) {
      this.#refused(group, toJournalFault(error), mode);
    } finally {
      this.#watch.end();
    }
  }

  /** A group without entries needs no disk: everything before it is already synced. */
  async #commit(group: readonly Item[], mode: CommitMode): Promise<readonly BatchVerdict[]> {
    const isEmpty = group.every(({ entries }) => entries.length === 0);
    if (isEmpty && mode !== "retry") return [];
    return this.#ledger.commit(group.map(toBatch), mode);
  }

  #take(maxRecords: number, maxBytes: number): Item[] {
    let [count, records, bytes] = [0, 0, 0];
    for (const item of this.#items) {
      const isOver = records + item.entries.length > maxRecords || bytes + item.bytes > maxBytes;
      if (count > 0 && isOver) break;
      count += 1;
      records += item.entries.length;
      bytes += item.bytes;
    }
    this.#records -= records;
    this.#bytes -= bytes;
    return this.#items.splice(0, count);
  }

  #taken(group: readonly Item[], verdicts: readonly BatchVerdict[]): void {
    for (const [n, { entries, waiter }] of group.entries()) {
      const verdict = verdicts[n] ?? [];
      if (!("code" in verdict)) for (const entry of entries) this.#raise(entry);
      if (waiter !== undefined)
        void (isAwaited(entries) ? this.#awaited : this.#answers).turn().then(() => waiter.resolve(verdict));
    }
  }

  #raise({ pid, fact }: Entry): void {
    this.highest.pid = Math.max(this.highest.pid, pid);
    this.highest.message = Math.max(this.highest.message, messageOf(fact));
  }

  /** The notes of a refused group return to the head of the queue. */
  #refused(group: readonly Item[], fault: JournalFault, mode: CommitMode): void {
    const notes = group.filter(({ waiter }) => waiter === undefined);
    for (const note of notes) this.#count(note, 1);
    this.#items = [...notes, ...this.#items];
    if (mode === "reserve") this.#reserveIsSpent = true;
    this.degrade(fault);
    for (const { waiter } of group) waiter?.reject(this.health.fault ?? fault);
  }

  #rejectWaiting(fault: JournalFault): void {
    const waiting = this.#items.filter(({ waiter }) => waiter !== undefined);
    this.#items = this.#items.filter(({ waiter }) => waiter === undefined);
    for (const item of waiting) {
      this.#count(item, -1);
      item.waiter?.reject(fault);
    }
  }

  #holed(cause: JournalFault): JournalFault {
    return new JournalFault("journal_damaged", `${this.#records} notes were lost`, { cause });
  }

  #lose(fault: JournalFault): void {
    this.health.become(fault);
    for (const { waiter } of this.#take(Infinity, Infinity)) waiter?.reject(fault);
    this.#disarm();
  }

  /** Retries every RETRY_MS while the journal is degraded. One loop at a time. */
  async #retry(): Promise<void> {
    this.#isRetrying = true;
    try {
      while (this.health.state.state === "degraded") {
        await this.#clock.sleep(RETRY_MS, this.#ending.signal);
        this.#retryIsDue = true;
        this.#pump();
        await this.#running;
      }
    } catch {
      // the journal is closed
    } finally {
      this.#isRetrying = false;
      this.#retryIsDue = false;
    }
  }
}

function isBeginning({ kind }: Entry): boolean {
  return kind === "process.spawned";
}

function isAwaited(entries: readonly Entry[]): boolean {
  return entries.some((entry) => isBeginning(entry) || entry.kind === "process.exited");
}

function toBatch({ entries, expect }: Item): Batch {
  return expect === undefined ? { entries } : { entries, expect };
}

function bytesOf(entries: readonly Entry[]): number {
  let bytes = 0;
  for (const { body, blobs } of entries) {
    bytes += body.length;
    for (const blob of blobs) bytes += blob.bytes.byteLength;
  }
  return bytes;
}
