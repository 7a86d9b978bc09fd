/**
 * Reads the write-ahead log of SQLite (sqlite.org/fileformat2.html, 4) without opening the database, to see whether
 * something was begun behind its last complete commit. SQLite drops that silently; it was never acknowledged. Only for
 * a journal that no process has open.
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const BIG_ENDIAN_MAGIC = 0x377f0683;
const LITTLE_ENDIAN_MAGIC = 0x377f0682;

interface WalState {
  /** Frames of complete commits. */
  readonly committed: number;
  /** Bytes of this log behind its last complete commit, without the remains of older logs in the file. */
  readonly tornBytes: number;
}

/** undefined: the log does not exist or is empty. */
export function readWal(path: string): WalState | undefined {
  let fd: number;
  try {
    fd = openSync(path, "r");
  } catch {
    return undefined;
  }
  try {
    const { size } = fstatSync(fd);
    return size === 0 ? undefined : scan(fd, size);
  } finally {
    closeSync(fd);
  }
}

function scan(fd: number, size: number): WalState {
  const header = Buffer.alloc(HEADER_BYTES);
  const magic = readSync(fd, header, 0, HEADER_BYTES, 0) === HEADER_BYTES ? header.readUInt32BE(0) : 0;
  const isBig = magic === BIG_ENDIAN_MAGIC;
  if (!isBig && magic !== LITTLE_ENDIAN_MAGIC) return { committed: 0, tornBytes: size };
  const sums = new Checksum(isBig);
  sums.add(header.subarray(0, 24));
  if (!sums.equals(header, 24)) return { committed: 0, tornBytes: size };
  const frame = Buffer.alloc(FRAME_HEADER_BYTES + header.readUInt32BE(8));
  let [committed, frames] = [0, 0];
  for (let at = HEADER_BYTES; at < size; at += frame.length) {
    const read = readSync(fd, frame, 0, frame.length, at);
    // this frame is from an older log in the same file: the newest log ends here
    if (read >= 16 && !frame.subarray(8, 16).equals(header.subarray(16, 24))) break;
    if (read < frame.length) return torn(committed, size);
    sums.add(frame.subarray(0, 8));
    sums.add(frame.subarray(FRAME_HEADER_BYTES));
    if (!sums.equals(frame, 16)) return torn(committed, size);
    frames++;
    if (frame.readUInt32BE(4) > 0) committed = frames;
  }
  return { committed, tornBytes: (frames - committed) * frame.length };

  function torn(whole: number, end: number): WalState {
    return { committed: whole, tornBytes: end - HEADER_BYTES - whole * frame.length };
  }
}

/** The cumulative checksum: each frame's sum covers all frames before it. */
class Checksum {
  readonly #isBig: boolean;
  #first = 0;
  #second = 0;

  constructor(isBig: boolean) {
    this.#isBig = isBig;
  }

  add(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; at += 8) {
      this.#first = (this.#first + this.#word(bytes, at) + this.#second) >>> 0;
      this.#second = (this.#second + this.#word(bytes, at + 4) + this.#first) >>> 0;
    }
  }

  /** The stored sums are big-endian, whatever the byte order of the words. */
  equals(bytes: Buffer, at: number): boolean {
    return bytes.readUInt32BE(at) === this.#first && bytes.readUInt32BE(at + 4) === this.#second;
  }

  #word(bytes: Buffer, at: number): number {
    return this.#isBig ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at);
  }
}
