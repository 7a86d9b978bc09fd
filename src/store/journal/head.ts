/**
 * The file `head`: the highest acknowledged record, stored apart from the database. One flipped bit in the write-ahead
 * log makes SQLite drop all later commits and still report itself intact; the head reveals the loss.
 * Two slots of 64 bytes, written alternately, so that one is complete if the machine fails during a write:
 *   "CRUXHEAD" ‖ lsn, 8 bytes big-endian ‖ hash of that record, 32 bytes ‖ first 16 bytes of the SHA-256 of all that
 * It is written after each commit and synced once a second, so the records it names were on disk before it.
 */
import { hash } from "node:crypto";
import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { createPrivateFile } from "../directory.ts";

const MAGIC = Buffer.from("CRUXHEAD");
const SLOT_BYTES = 64;
const CHECKED_BYTES = 48;

interface Head {
  readonly lsn: number;
  readonly hash: Uint8Array;
}

/** The valid slot with the higher lsn; null: no slot can be read. */
export function headOf(dir: string): Head | null {
  let bytes: Buffer;
  try {
    bytes = readFileSync(join(dir, "head"));
  } catch {
    return null;
  }
  const [first, second] = [parseSlot(bytes, 0), parseSlot(bytes, 1)];
  if (first === null || second === null) return first ?? second;
  return first.lsn > second.lsn ? first : second;
}

function parseSlot(bytes: Buffer, slot: number): Head | null {
  const own = bytes.subarray(slot * SLOT_BYTES, (slot + 1) * SLOT_BYTES);
  if (own.length < SLOT_BYTES || !own.subarray(0, 8).equals(MAGIC)) return null;
  if (!own.subarray(CHECKED_BYTES).equals(checksum(own))) return null;
  return { lsn: Number(own.readBigUInt64BE(8)), hash: Uint8Array.from(own.subarray(16, CHECKED_BYTES)) };
}

function checksum(slot: Buffer): Buffer {
  return hash("sha256", slot.subarray(0, CHECKED_BYTES), "buffer").subarray(0, SLOT_BYTES - CHECKED_BYTES);
}

export class HeadFile {
  readonly #fd: number;
  #slot = 0;
  #isDirty = false;
  /** The lsn of the newest slot; 0: no slot was written. */
  lsn: number;
  /** The error of the last failed write or sync. The head may then be behind, although the records are on disk. */
  error: unknown;

  constructor(dir: string) {
    const path = join(dir, "head");
    createPrivateFile(dir, path);
    this.lsn = headOf(dir)?.lsn ?? 0;
    const bytes = readFileSync(path);
    // the older slot is written first
    if (parseSlot(bytes, 0)?.lsn === this.lsn) this.#slot = 1;
    this.#fd = openSync(path, "r+");
    // allocate its space now: it must be writable when the disk is full
    if (bytes.length < 2 * SLOT_BYTES)
      writeSync(this.#fd, Buffer.alloc(2 * SLOT_BYTES), 0, 2 * SLOT_BYTES, 0);
  }

  /** Never throws, because the commit has already happened. */
  write(lsn: number, recordHash: Uint8Array): void {
    const slot = Buffer.alloc(SLOT_BYTES);
    MAGIC.copy(slot);
    slot.writeBigUInt64BE(BigInt(lsn), 8);
    slot.set(recordHash, 16);
    checksum(slot).copy(slot, CHECKED_BYTES);
    try {
      writeSync(this.#fd, slot, 0, SLOT_BYTES, this.#slot * SLOT_BYTES);
    } catch (error) {
      this.error = error;
      return;
    }
    this.#slot = 1 - this.#slot;
    this.#isDirty = true;
    this.lsn = lsn;
  }

  /** Never throws. */
  sync(): void {
    if (!this.#isDirty) return;
    this.#isDirty = false;
    try {
      fsyncSync(this.#fd);
    } catch (error) {
      this.error = error;
    }
  }

  close(): void {
    this.sync();
    closeSync(this.#fd);
  }
}
