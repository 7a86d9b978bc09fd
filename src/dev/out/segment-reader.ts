/**
 * One reader of bytes that are spread over several files, which may still grow at the end and be removed at the
 * start.
 */
import { type FileHandle, open } from "node:fs/promises";
import type { BlockReader, Lend } from "../../kernel/ports/spools.ts";
import { abortable, reasonOf } from "../../lib/abort.ts";
import { errnoOf, hostError } from "../driver-error.ts";

const NONE = Buffer.alloc(0);

export interface SegmentSource {
  /** Positions run from `oldest` to `bytes`. */
  readonly oldest: number;
  readonly bytes: number;
  /** True if no more bytes will come. */
  readonly isEnded: boolean;
  /** The file and offset of a byte, and how many bytes follow in the same file, including it. */
  locate(position: number): { path: string; offset: number; left: number };
  /** Reads at once what was written just now; how many bytes. 0: it must be read from its file. */
  readNear?(position: number, into: readonly Buffer[]): number;
  /** Resolves when there are more bytes, or at the end. */
  more(): Promise<void>;
  /** Called when a reader has advanced. */
  onRead(): void;
  onClose(reader: SegmentReader): void;
}

/**
 * Reads of one reader must be sequential. It keeps no file open between them: readers are abandoned, or idle for
 * days.
 */
export class SegmentReader implements BlockReader {
  readonly #source: SegmentSource;
  #position: number;
  #isClosed = false;

  constructor(source: SegmentSource, from: number) {
    this.#source = source;
    this.#position = from;
  }

  /** The position of the next byte. */
  get position(): number {
    return this.#position;
  }

  get available(): number {
    return Math.max(0, this.#source.bytes - Math.max(this.#position, this.#source.oldest));
  }

  async read(length: number, signal: AbortSignal): Promise<Uint8Array> {
    let buffer: Buffer = NONE;
    const bytes = await this.readInto(length, signal, (count) => {
      buffer = Buffer.allocUnsafe(count);
      return [buffer];
    });
    return buffer.subarray(0, bytes);
  }

  async readInto(length: number, signal: AbortSignal, lend: Lend): Promise<number> {
    for (;;) {
      if (signal.aborted) throw reasonOf(signal);
      this.#position = Math.max(this.#position, this.#source.oldest);
      const isAtEnd = this.#position >= this.#source.bytes;
      if (this.#isClosed || (isAtEnd && this.#source.isEnded)) return 0;
      if (isAtEnd) await abortable(this.#source.more(), signal);
      else {
        const bytes = await this.#next(length, signal, lend);
        if (bytes > 0) return bytes;
      }
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#source.onClose(this);
  }

  /** 0: the bytes at the position were removed, and the reader has skipped the rest of their file; or it has another name now. */
  async #next(length: number, signal: AbortSignal, lend: Lend): Promise<number> {
    const { path, offset, left } = this.#source.locate(this.#position);
    const into = lend(Math.min(length, left));
    const near = this.#source.readNear?.(this.#position, into) ?? 0;
    const bytes = near > 0 ? near : await readAt(path, offset, into);
    if (signal.aborted) throw reasonOf(signal);
    // its file may hold later bytes by now
    const isRemoved = this.#position < this.#source.oldest;
    if (isRemoved || (bytes === 0 && this.#source.locate(this.#position).path !== path)) return 0;
    this.#position += bytes > 0 ? bytes : left;
    this.#source.onRead();
    return bytes;
  }
}

/** How many bytes; 0: the file does not exist, or is shorter. */
async function readAt(path: string, offset: number, into: readonly Buffer[]): Promise<number> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(path);
    return (await handle.readv(into, offset)).bytesRead;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return 0;
    throw hostError("Read", path, error);
  } finally {
    await handle?.close();
  }
}
