/**
 * Helpers that the store's tests share: a clock moved by hand, a ledger whose disk behaves as the test says, the next
 * state of a journal.
 */
import type { Journal, JournalState } from "../kernel/ports/journal.ts";
import { abortable } from "../lib/abort.ts";
import type { JournalFault } from "./fault.ts";
import type { Blob } from "./journal/body.ts";
import type { JournalClock } from "./journal/journal-clock.ts";
import type { Batch, BatchVerdict, CommitMode, Ledger, LedgerReader } from "./journal/ledger.ts";

export class HandClock implements JournalClock {
  #ms = 0;
  #sleepers: { until: number; wake: () => void }[] = [];
  /** Called at the beginning of each sleep. */
  onSleep = (_ms: number): void => {};
  now = (): number => 1_000_000 + this.#ms;
  mono = (): number => this.#ms;
  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#sleepers.push({ until: this.#ms + ms, wake: resolve });
    this.onSleep(ms);
    return signal === undefined ? promise : abortable(promise, signal);
  }
  /** Advances to the end of the only sleep; resolves when the woken loop sleeps again, however long its work takes. */
  async round(ms: number): Promise<void> {
    const asleep = Promise.withResolvers<void>();
    this.onSleep = () => asleep.resolve();
    this.advance(ms);
    await asleep.promise;
  }
  advance(ms: number): void {
    this.#ms += ms;
    const due = this.#sleepers.filter(({ until }) => until <= this.#ms);
    this.#sleepers = this.#sleepers.filter(({ until }) => until > this.#ms);
    for (const { wake } of due) wake();
  }
}

export function nextState(journal: Journal): Promise<JournalState> {
  return new Promise((resolve) => {
    const stop = journal.onState((state) => {
      stop();
      resolve(state);
    });
  });
}

/** A ledger whose disk behaves as the test says. */
export class ToldLedger implements Ledger {
  readonly epoch: number;
  readonly kernelId: string;
  readonly path: string;
  readonly highest: Ledger["highest"];
  readonly reader: LedgerReader;
  readonly acknowledgedLsn: number;
  /** The commits it received: the bodies of each group, with the mode. */
  readonly groups: { readonly mode: CommitMode; readonly bodies: readonly string[] }[] = [];
  /** If set, commits reject with it: `reserveFault` in `reserve` mode, `fault` in the other modes. */
  fault: JournalFault | undefined;
  reserveFault: JournalFault | undefined;
  /** Commits wait for this promise. */
  gate: Promise<void> | undefined;
  readonly #inner: Ledger;
  #lose: (fault: JournalFault) => void = () => {};

  constructor(inner: Ledger) {
    this.#inner = inner;
    this.epoch = inner.epoch;
    this.kernelId = inner.kernelId;
    this.path = inner.path;
    this.highest = inner.highest;
    this.reader = inner.reader;
    this.acknowledgedLsn = inner.acknowledgedLsn;
  }

  async commit(batches: readonly Batch[], mode: CommitMode): Promise<readonly BatchVerdict[]> {
    this.groups.push({ mode, bodies: batches.flatMap(({ entries }) => entries.map(({ body }) => body)) });
    await this.gate;
    const fault = mode === "reserve" ? this.reserveFault : this.fault;
    if (fault !== undefined) throw fault;
    return this.#inner.commit(batches, mode);
  }

  /** Acts as if the writer thread had ended while no commit was pending. */
  lose(fault: JournalFault): void {
    this.#lose(fault);
  }

  onLost(listener: (fault: JournalFault) => void): void {
    this.#lose = listener;
  }

  saveSnapshot(proc: string, seq: number, state: string): Promise<void> {
    return this.#inner.saveSnapshot(proc, seq, state);
  }

  markDamaged(proc: string, seq: number): Promise<void> {
    return this.#inner.markDamaged(proc, seq);
  }

  async putBlob(blob: Blob): Promise<void> {
    if (this.fault !== undefined) throw this.fault;
    return this.#inner.putBlob(blob);
  }

  getBlob(digest: string): Promise<Uint8Array> {
    return this.#inner.getBlob(digest);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}
