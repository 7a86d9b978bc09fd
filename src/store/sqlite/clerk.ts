/**
 * The work of the writing side around a group: first its blobs, then the group, then the maintenance after the answer
 * (checkpoint, sync of the head, the reserve). One call at a time. It lives in the writer thread, or in a test's
 * thread.
 */
import type { DatabaseSync } from "node:sqlite";
import { diagnosed, JournalFault, type Room, toJournalFault } from "../fault.ts";
import { BlobStore } from "../journal/blobs.ts";
import type { HeadFile } from "../journal/head.ts";
import type { Batch, BatchVerdict, CommitMode } from "../journal/ledger.ts";
import type { OnNotice } from "../journal/notice.ts";
import { LOW_BYTES, RESERVE_BYTES, Reserve, spaceOf } from "../journal/room.ts";
import type { SqliteWriter } from "./writer.ts";

const CHECKPOINT_GROUPS = 64;
const CHECKPOINT_CHARS = 4 * 1024 * 1024;
const HEAD_SYNC_MS = 1000;
const LOOK_MS = 5000;

interface ClerkParts {
  readonly dir: string;
  readonly db: DatabaseSync;
  readonly writer: SqliteWriter;
  readonly head: HeadFile;
  readonly maxBytes: number;
  readonly onNotice: OnNotice;
  /** Monotonic, ms. */
  readonly mono: () => number;
}

export class Clerk {
  readonly #parts: ClerkParts;
  readonly #blobs: BlobStore;
  readonly #reserve: Reserve;
  readonly #pageBytes: number;
  #groups = 0;
  #chars = 0;
  #lookedAt: number;
  #headSyncedAt: number;
  /** Whether the disk has room for the reserve. */
  #hasRoom = false;
  #isLow = false;
  #toldHead = false;

  constructor(parts: ClerkParts) {
    this.#parts = parts;
    this.#blobs = new BlobStore(parts.dir);
    this.#reserve = new Reserve(parts.dir);
    this.#lookedAt = parts.mono();
    this.#headSyncedAt = parts.mono();
    this.#pageBytes = this.#pragma("page_size");
    this.#limit(parts.maxBytes);
  }

  /** Rejects with JournalFault; unless it is `isLost`, nothing was committed. */
  async commit(batches: readonly Batch[], mode: CommitMode): Promise<readonly BatchVerdict[]> {
    try {
      if (mode === "retry") this.#assertRoom();
      if (mode === "reserve") this.#openReserve();
      for (const { entries } of batches)
        for (const { blobs } of entries) for (const blob of blobs) await this.#blobs.put(blob);
      if (batches.length === 0 && mode === "retry") this.#parts.writer.probe();
      const verdicts = batches.length === 0 ? [] : this.#parts.writer.commit(batches);
      this.#count(batches);
      return verdicts;
    } catch (error) {
      throw this.#withRoom(diagnosed(toJournalFault(error), this.#parts.dir));
    } finally {
      if (mode === "reserve") this.#limit(this.#parts.maxBytes);
    }
  }

  saveSnapshot(proc: string, seq: number, state: string): void {
    this.#parts.writer.saveSnapshot(proc, seq, state);
    this.#chars += state.length;
  }

  markDamaged(proc: string, seq: number): void {
    this.#parts.writer.markDamaged(proc, seq);
  }

  /** Called after each answer. Throws JournalFault if a sync failed. */
  maintain(): void {
    const now = this.#parts.mono();
    if (this.#groups >= CHECKPOINT_GROUPS || this.#chars >= CHECKPOINT_CHARS) this.#checkpoint();
    if (now - this.#headSyncedAt >= HEAD_SYNC_MS) this.syncHead();
    if (now - this.#lookedAt >= LOOK_MS) this.#look(now);
    // a reserve that a quota refuses is not retried after every group
    if (this.#hasRoom && !this.#reserve.isThere) this.#hasRoom = this.#reserve.grow();
  }

  syncHead(): void {
    const { head, mono, onNotice } = this.#parts;
    this.#headSyncedAt = mono();
    head.sync();
    if (head.error === undefined || this.#toldHead) return;
    this.#toldHead = true;
    onNotice({ event: "journal.head", message: `the file head cannot be written: ${String(head.error)}` });
  }

  close(): void {
    this.#parts.writer.close();
  }

  #count(batches: readonly Batch[]): void {
    this.#groups += 1;
    for (const { entries } of batches) for (const { body } of entries) this.#chars += body.length + 200;
  }

  /** A passive checkpoint, run here rather than by SQLite, so that no group waits for one before its answer. */
  #checkpoint(): void {
    this.#groups = 0;
    this.#chars = 0;
    try {
      this.#parts.db.prepare("PRAGMA wal_checkpoint(PASSIVE)").get();
    } catch (error) {
      const fault = toJournalFault(error);
      // pages that could not be copied stay in the log until the next checkpoint
      if (fault.isLost) throw fault;
    }
  }

  #look(now: number): void {
    this.#lookedAt = now;
    const { dir, onNotice } = this.#parts;
    const space = spaceOf(dir);
    if (space === null) return;
    this.#hasRoom = space.freeBytes > LOW_BYTES;
    if (space.isLow && !this.#isLow)
      onNotice({ event: "journal.low_space", message: lowMessage(dir, space.freeBytes) });
    this.#isLow = space.isLow;
  }

  #openReserve(): void {
    this.#reserve.release();
    this.#hasRoom = false;
    this.#limit(this.#parts.maxBytes + RESERVE_BYTES);
  }

  #limit(maxBytes: number): void {
    const pages = Math.max(1, Math.floor(maxBytes / this.#pageBytes));
    this.#parts.db.exec(`PRAGMA max_page_count = ${pages}`);
  }

  #assertRoom(): void {
    const room = this.#room();
    if (room.freeBytes === null || room.freeBytes >= room.needBytes) return;
    throw new JournalFault("journal_full", `${this.#parts.dir} has no room left`, { room });
  }

  #withRoom(fault: JournalFault): JournalFault {
    if (fault.isLost || fault.room !== undefined) return fault;
    return new JournalFault(fault.reason, fault.what, { cause: fault, room: this.#room() });
  }

  /** The smaller of the disk's free space and what the size limit leaves, and the space needed to resume. */
  #room(): Room {
    const { dir, maxBytes } = this.#parts;
    const pages = this.#pragma("page_count") - this.#pragma("freelist_count");
    const ofLimit = Math.max(0, maxBytes - pages * this.#pageBytes);
    const ofDisk = spaceOf(dir)?.freeBytes ?? null;
    const needOfLimit = Math.min(RESERVE_BYTES, maxBytes / 8);
    if (ofLimit < needOfLimit || ofDisk === null) return { freeBytes: ofLimit, needBytes: needOfLimit };
    // room for the reserve, and as much again to work with
    const needBytes = Math.min(2 * RESERVE_BYTES, maxBytes / 8);
    return { freeBytes: Math.min(ofLimit, ofDisk), needBytes };
  }

  #pragma(name: "page_size" | "page_count" | "freelist_count"): number {
    return Number(this.#parts.db.prepare(`PRAGMA ${name}`).get()?.[name] ?? 0);
  }
}

function lowMessage(dir: string, freeBytes: number): string {
  return `${Math.floor(freeBytes / 1024 ** 2)} MiB are free where ${dir} lies; when nothing is left, agents are paused`;
}
