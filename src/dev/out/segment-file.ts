/**
 * A file of a spool while it is written. One that is used again holds old bytes behind the new ones: its name and its last bytes
 * say so, for a later daemon. Once it is full, or its spool has ended, it is a file as any other.
 */
import { closeSync, constants, ftruncateSync, openSync, readSync, renameSync, writeSync } from "node:fs";

const USED_AGAIN = "~";
/** Stands behind all that a segment has room for; then comes how many of its bytes count. */
const MARK = Buffer.from("spool");
const TAIL_BYTES = MARK.length + 4;
/** The number of the segment, and what tells that it is used again. */
export const SEGMENT_NAME = /^(.+)\.(\d+)(~?)$/;

/** A segment that is not needed any more, and has this many bytes. */
interface Spare {
  readonly segment: number;
  readonly bytes: number;
}

export class SegmentFile {
  readonly segment: number;
  readonly fd: number;
  readonly #place: string;
  /** null: it is a file as any other. */
  readonly #tail: { readonly at: number; readonly bytes: Buffer } | null;
  #isFinished = false;

  /** `place`: the path up to the number. Throws the host's error. */
  constructor(place: string, segment: number, spare?: Spare) {
    this.segment = segment;
    this.#place = place;
    const flags = spare === undefined ? constants.O_RDWR | constants.O_CREAT : constants.O_RDWR;
    this.fd = openSync(`${place}.${spare?.segment ?? segment}`, flags, 0o600);
    this.#tail =
      spare === undefined
        ? null
        : { at: spare.bytes, bytes: Buffer.concat([MARK, Buffer.alloc(TAIL_BYTES - MARK.length)]) };
    if (spare === undefined) return;
    try {
      renameSync(`${place}.${spare.segment}`, this.path);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  get path(): string {
    return `${this.#place}.${this.segment}${this.#tail === null || this.#isFinished ? "" : USED_AGAIN}`;
  }

  /** How many of the `count` bytes it took. */
  write(chunk: Uint8Array, from: number, count: number, offset: number): number {
    const written = writeSync(this.fd, chunk, from, count, offset);
    if (this.#tail === null) return written;
    this.#tail.bytes.writeUInt32BE(offset + written, MARK.length);
    writeSync(this.fd, this.#tail.bytes, 0, TAIL_BYTES, this.#tail.at);
    return written;
  }

  /** It stays as it is: `bytes` of it count. */
  finish(bytes: number): void {
    if (this.#tail === null || this.#isFinished) return;
    const { path } = this;
    try {
      ftruncateSync(this.fd, bytes);
      renameSync(path, `${this.#place}.${this.segment}`);
      this.#isFinished = true;
    } catch {
      // on a disk that refuses this, who is not near its end misses it
    }
  }

  close(): void {
    closeSync(this.fd);
  }
}

/** How many bytes count of a file that was being used again when its daemon ended. */
export function countedBytes(path: string, size: number): number {
  const tail = Buffer.alloc(TAIL_BYTES);
  const fd = openSync(path, constants.O_RDONLY);
  try {
    readSync(fd, tail, 0, TAIL_BYTES, Math.max(0, size - TAIL_BYTES));
  } finally {
    closeSync(fd);
  }
  if (!tail.subarray(0, MARK.length).equals(MARK)) return 0;
  return Math.min(tail.readUInt32BE(MARK.length), size - TAIL_BYTES);
}
