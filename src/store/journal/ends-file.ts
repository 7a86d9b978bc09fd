/**
 * Signals and process ends that the journal cannot store because the disk is full. The file's blocks are allocated in
 * advance, so that writing into them needs no free space; each record is synced before it counts, and is moved to the
 * journal once that accepts records again.
 * Bound: SLOTS records of SLOT_BYTES; a larger record, or one too many, is refused and `keep` returns false.
 */
import { hash } from "node:crypto";
import { closeSync, fdatasyncSync, fsyncSync, openSync, readFileSync, writeSync } from "node:fs";
import { asPid, asProcUuid, type ProcUuid } from "../../abi/ids.ts";
import type { Ends, KeptEnd } from "../../kernel/ports/ends.ts";
import type { Journal, JournalDraft, ProcessRow } from "../../kernel/ports/journal.ts";

const SLOT_BYTES = 1_024;
const SLOTS = 256;
const SUM_CHARS = 16;
const LF = 0x0a;

interface Slot {
  readonly at: number;
  /** Of the daemon that kept it; absent in a file of an older one. */
  readonly epoch?: number;
  readonly draft: KeptEnd;
}

/** The daemon that keeps them. */
interface Keeper {
  /** Wall clock, ms. */
  now(): number;
  readonly epoch: number;
}

export class EndsFile implements Ends {
  readonly #path: string;
  readonly #keeper: Keeper;
  #slots: Slot[];

  /** Loads the records that an earlier daemon left. */
  constructor(path: string, keeper: Keeper) {
    this.#path = path;
    this.#keeper = keeper;
    this.#slots = slotsOf(path);
  }

  /** Allocates the file's blocks. If the disk has no room for them, `keep` refuses every record. */
  prepare(): void {
    const size = SLOT_BYTES * SLOTS;
    if (bytesOf(this.#path).length === size) return;
    try {
      const fd = openSync(this.#path, "w", 0o600);
      try {
        writeSync(fd, Buffer.alloc(size), 0, size, 0);
        fsyncSync(fd);
      } finally {
        closeSync(fd);
      }
      this.#slots = [];
    } catch {
      // the journal itself reports that the disk is full
    }
  }

  /** True: the record is stored and synced. False: it was not stored. */
  keep(draft: KeptEnd): boolean {
    const slot = { at: this.#keeper.now(), epoch: this.#keeper.epoch, draft };
    const bytes = encode(slot);
    if (bytes === undefined || this.#slots.length >= SLOTS) return false;
    if (bytesOf(this.#path).length !== SLOT_BYTES * SLOTS) return false;
    try {
      this.#write(bytes, this.#slots.length * SLOT_BYTES);
    } catch {
      return false;
    }
    this.#slots.push(slot);
    return true;
  }

  exitOf(proc: ProcUuid): { readonly code: number; readonly reason: string } | undefined {
    const kept = this.#slots.findLast(({ draft }) => draft.proc === proc && draft.kind === "process.exited");
    if (kept === undefined) return undefined;
    const { code, reason } = kept.draft.body as { code?: unknown; reason?: unknown };
    return { code: typeof code === "number" ? code : 1, reason: String(reason) };
  }

  /**
   * Moves the stored records to the journal; returns how many. A record is dropped if its process has ended or has a
   * newer record in the journal.
   */
  async fold(journal: Pick<Journal, "row" | "readAt" | "append">): Promise<number> {
    const drafts: JournalDraft[] = [];
    for (const slot of this.#slots) {
      const row = await journal.row(slot.draft.proc);
      if (row === undefined || row.exit !== null || (await this.#isOlder(slot, row, journal))) continue;
      drafts.push({ ...slot.draft, v: 1 });
    }
    if (drafts.length > 0) await journal.append(drafts);
    this.clear();
    return drafts.length;
  }

  /**
   * Whether the newest record of the process came later. Between daemons their epochs tell, as the wall clock may have
   * been set back; this daemon has also noted in the journal what it kept here.
   */
  async #isOlder(
    { at, epoch, draft }: Slot,
    row: Pick<ProcessRow, "lastAt" | "lastSeq">,
    journal: Pick<Journal, "readAt">,
  ): Promise<boolean> {
    if (epoch === undefined || epoch === this.#keeper.epoch) return row.lastAt > at;
    const [newest] = await journal.readAt(draft.proc, [row.lastSeq]);
    return newest !== undefined && newest.epoch > epoch;
  }

  clear(): void {
    const used = this.#slots.length;
    if (used === 0) return;
    this.#write(Buffer.alloc(used * SLOT_BYTES), 0);
    this.#slots = [];
  }

  #write(bytes: Buffer, at: number): void {
    const fd = openSync(this.#path, "r+");
    try {
      writeSync(fd, bytes, 0, bytes.length, at);
      fdatasyncSync(fd);
    } finally {
      closeSync(fd);
    }
  }
}

/** One line, its checksum first, padded to a slot. undefined: the record is too large. */
function encode(slot: Slot): Buffer | undefined {
  const text = JSON.stringify(slot);
  const line = Buffer.from(`${sumOf(text)}${text}\n`);
  return line.length > SLOT_BYTES ? undefined : Buffer.concat([line, Buffer.alloc(SLOT_BYTES - line.length)]);
}

/** The records up to the first empty or torn slot; a torn record was never acknowledged. */
function slotsOf(path: string): Slot[] {
  const bytes = bytesOf(path);
  const slots: Slot[] = [];
  for (let at = 0; at < bytes.length; at += SLOT_BYTES) {
    const end = bytes.indexOf(LF, at);
    if (end < 0 || end >= at + SLOT_BYTES) break;
    const line = bytes.toString("utf8", at, end);
    const text = line.slice(SUM_CHARS);
    if (sumOf(text) !== line.slice(0, SUM_CHARS)) break;
    const { draft, ...kept } = JSON.parse(text) as Slot;
    slots.push({ ...kept, draft: { ...draft, proc: asProcUuid(draft.proc), pid: asPid(draft.pid) } });
  }
  return slots;
}

function sumOf(text: string): string {
  return hash("sha256", text, "hex").slice(0, SUM_CHARS);
}

function bytesOf(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    return Buffer.alloc(0);
  }
}
