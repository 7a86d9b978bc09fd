/**
 * A spool that is being written, as segment files; each begins with its first byte, an empty one at the end. It uses one fd
 * while it is written, or two, none before and after. A segment that is not needed any more becomes the next one: to write
 * over a file that is in the page cache costs a fifth of writing a new one.
 */
import { closeSync, constants, openSync, readvSync, rmSync, writeFileSync } from "node:fs";
import type { OnFull, Spool } from "../../kernel/ports/spools.ts";
import { driverError } from "../driver-error.ts";
import { SegmentFile } from "./segment-file.ts";
import { SegmentReader, type SegmentSource } from "./segment-reader.ts";

export interface Segment {
  readonly path: string;
  readonly bytes: number;
}

/** Ends the name of a note beside a spool. */
export const NOTE = ".note";
/** What all have read is written over while it is in the cache of the processor. */
const BLOCK_SEGMENT_BYTES = 4 * 1024 * 1024;

interface DiskSpoolOptions {
  /** Absolute path prefix; the number of the segment is appended. */
  readonly place: string;
  /** What happens at twice the half. */
  readonly onFull: OnFull;
  readonly halfBytes: number;
  /** Resolves when a disk that took no more is tried again. */
  aWhile(): Promise<void>;
  /** Called once at the end, with the existing segments in order. */
  onEnd(segments: readonly Segment[]): void;
  /** Called on removal, after onEnd and with the same segments. */
  onRemove(segments: readonly Segment[]): void;
}

/** What was written so little before is still in the page cache: reading it waits for no disk. */
const NEAR_BYTES = 32 * 1024 * 1024;
/** A writer that is so far ahead of a reader lets it have a turn: what is near is read without waiting for the disk. */
const AHEAD_BYTES = 2 * 1024 * 1024;

export class DiskSpool implements Spool, SegmentSource {
  readonly #options: DiskSpoolOptions;
  readonly #isDropping: boolean;
  readonly #isRefusing: boolean;
  readonly #isBlocking: boolean;
  readonly #halfBytes: number;
  readonly #segmentBytes: number;
  readonly #readers = new Set<SegmentReader>();
  beforeRead: (() => void) | undefined;
  #bytes = 0;
  #droppedBytes = 0;
  /** Segments before this one were removed. */
  #firstSegment = 0;
  /** All readers have read the bytes before this position. */
  #readBytes = 0;
  #file: SegmentFile | undefined;
  /** The one before, for readers that are still in it. */
  #older: SegmentFile | undefined;
  /** The segments that exist at the end; undefined: not ended yet. */
  #left: readonly Segment[] | undefined;
  #isRemoved = false;
  /** What the disk has not taken of the last chunk. */
  #late: Buffer | undefined;
  #more: PromiseWithResolvers<void> | undefined;
  #room: PromiseWithResolvers<void> | undefined;

  constructor(options: DiskSpoolOptions) {
    this.#options = options;
    this.#isDropping = options.onFull === "drop";
    this.#isRefusing = options.onFull === "refuse";
    this.#isBlocking = options.onFull === "block";
    this.#halfBytes = options.halfBytes;
    this.#segmentBytes = this.#isBlocking
      ? Math.min(options.halfBytes, BLOCK_SEGMENT_BYTES)
      : options.halfBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get droppedBytes(): number {
    return this.#droppedBytes;
  }

  get oldest(): number {
    return this.#isRemoved ? this.#bytes : this.#firstSegment * this.#segmentBytes;
  }

  get isEnded(): boolean {
    return this.#left !== undefined;
  }

  /**
   * If the disk is full, `refuse` throws UNAVAILABLE and accepts nothing of the chunk, `drop` counts the missing bytes as dropped,
   * and with `block` they wait for the disk, as the writer does for `room`.
   */
  write(chunk: Uint8Array): void {
    if (this.isEnded) return;
    if (this.#isRefusing && this.#unread + chunk.byteLength > 2 * this.#halfBytes) throw full();
    const written = this.#late === undefined ? this.#store(chunk) : 0;
    if (this.#isRefusing && written < chunk.byteLength) throw full();
    this.#bytes += written;
    this.#wake();
    if (written === chunk.byteLength) return;
    // a writer that does not wait loses what it writes meanwhile
    if (this.#isBlocking && this.#late === undefined) this.#late = Buffer.from(chunk.subarray(written));
    else this.#droppedBytes += chunk.byteLength - written;
  }

  /** Resolves when the disk has taken what waits for it, and there is room. */
  async #catchUp(): Promise<void> {
    while (this.#late !== undefined && !this.isEnded) {
      await this.#options.aWhile();
      if (this.#late === undefined || this.isEnded) return;
      const written = this.#store(this.#late);
      this.#bytes += written;
      this.#late = written < this.#late.length ? this.#late.subarray(written) : undefined;
      this.#wake();
    }
    await this.room();
  }

  get isRead(): boolean {
    return this.#readers.size > 0;
  }

  recent(from: number, into: Buffer): number {
    if (from < this.oldest || from >= this.#bytes) return 0;
    return this.readNear(from, [into.subarray(0, this.locate(from).left)]);
  }

  readNear(position: number, into: readonly Buffer[]): number {
    if (this.isEnded || this.#bytes - position > NEAR_BYTES) return 0;
    const segment = Math.floor(position / this.#segmentBytes);
    const offset = position - segment * this.#segmentBytes;
    const file = this.#older?.segment === segment ? this.#older : this.#file;
    if (file?.segment === segment) return readvSync(file.fd, into, offset);
    try {
      const fd = openSync(this.#pathOf(segment), constants.O_RDONLY);
      try {
        return readvSync(fd, into, offset);
      } finally {
        closeSync(fd);
      }
    } catch {
      return 0;
    }
  }

  room(): Promise<void> | undefined {
    if (!this.#isBlocking || this.isEnded) return undefined;
    if (this.#late !== undefined) return this.#catchUp();
    if (this.#unread < this.#halfBytes)
      return this.#readers.size > 0 && this.#unread > AHEAD_BYTES ? aTurn() : undefined;
    this.#room ??= Promise.withResolvers<void>();
    return this.#room.promise;
  }

  get #unread(): number {
    return this.#bytes - this.#readBytes;
  }

  /** The segments before this one have been read by all. */
  get #readSegments(): number {
    return Math.floor(this.#readBytes / this.#segmentBytes);
  }

  note(words: string | null): void {
    try {
      if (words === null) rmSync(this.#options.place + NOTE, { force: true });
      else writeFileSync(this.#options.place + NOTE, words, { mode: 0o600 });
    } catch {
      // a disk that takes no more takes nothing of the spool either
    }
  }

  end(): void {
    if (this.#left !== undefined) return;
    this.#droppedBytes += this.#late?.length ?? 0;
    this.#late = undefined;
    if (this.#bytes === 0) this.#makeEmpty();
    if (!this.#isDropping) this.#removeUpTo(this.#readSegments);
    this.#file?.finish(this.#bytes - this.#file.segment * this.#segmentBytes);
    this.#left = this.#segments();
    this.#closeFiles();
    this.#options.onEnd(this.#left);
    this.#wake();
    this.#room?.resolve();
  }

  async remove(): Promise<void> {
    this.end();
    this.#isRemoved = true;
    this.#options.onRemove(this.#left ?? []);
  }

  reader(from: number): SegmentReader {
    this.beforeRead?.();
    const reader = new SegmentReader(this, from);
    this.#readers.add(reader);
    return reader;
  }

  locate(position: number): { path: string; offset: number; left: number } {
    const segment = Math.floor(position / this.#segmentBytes);
    const offset = position - segment * this.#segmentBytes;
    const left = Math.min(this.#segmentBytes - offset, this.#bytes - position);
    return { path: this.#pathOf(segment), offset, left };
  }

  more(): Promise<void> {
    this.#more ??= Promise.withResolvers<void>();
    return this.#more.promise;
  }

  /**
   * The slowest reader defines what counts as read; segments that all have read are removed, except with `drop`.
   */
  onRead(): void {
    const slowest = Math.min(...[...this.#readers].map(({ position }) => position));
    if (slowest > this.#readBytes && slowest !== Infinity) this.#readBytes = slowest;
    if (!this.#isDropping) this.#removeUpTo(this.#readSegments - (this.#isRefusing ? 0 : 1));
    if (this.#unread >= this.#halfBytes) return;
    this.#room?.resolve();
    this.#room = undefined;
  }

  onClose(reader: SegmentReader): void {
    this.#readers.delete(reader);
    // the others may have read all, and wait for a writer that waits for this one
    this.onRead();
  }

  /** Returns how many bytes the disk accepted; the caller counts them as written. */
  #store(chunk: Uint8Array): number {
    let at = 0;
    try {
      while (at < chunk.byteLength) {
        const position = this.#bytes + at;
        const segment = Math.floor(position / this.#segmentBytes);
        const offset = position - segment * this.#segmentBytes;
        const part = Math.min(chunk.byteLength - at, this.#segmentBytes - offset);
        at += this.#fileOf(segment).write(chunk, at, part, offset);
      }
    } catch {
      // the disk is full or gone: the returned count shows it
    }
    return at;
  }

  #fileOf(segment: number): SegmentFile {
    if (this.#file?.segment === segment) return this.#file;
    const file = this.#usedAgain(segment) ?? new SegmentFile(this.#options.place, segment);
    this.#file?.finish(this.#segmentBytes);
    this.#closeOlder();
    this.#older = this.#file;
    this.#file = file;
    if (this.#isDropping) this.#droppedBytes += this.#removeUpTo(segment - 1) * this.#segmentBytes;
    return file;
  }

  /** The oldest file, if nobody needs it once this segment begins. */
  #usedAgain(segment: number): SegmentFile | undefined {
    const oldest = this.#firstSegment;
    const needed = this.#isDropping ? segment - 1 : this.#isRefusing ? 0 : this.#readSegments;
    if (oldest >= Math.min(needed, segment - 1)) return undefined;
    try {
      const spare = { segment: oldest, bytes: this.#segmentBytes };
      const file = new SegmentFile(this.#options.place, segment, spare);
      this.#firstSegment++;
      if (this.#isDropping) this.#droppedBytes += this.#segmentBytes;
      return file;
    } catch {
      return undefined;
    }
  }

  /** Creates an empty file, so that an empty spool can be told from one whose data was removed. */
  #makeEmpty(): void {
    try {
      this.#fileOf(0);
    } catch {
      // then there is no file
    }
  }

  #closeFiles(): void {
    this.#file?.close();
    this.#file = undefined;
    this.#closeOlder();
  }

  #closeOlder(): void {
    this.#older?.close();
    this.#older = undefined;
  }

  /** Removes the segments before `segment`; returns how many. */
  #removeUpTo(segment: number): number {
    const before = this.#firstSegment;
    for (; this.#firstSegment < segment; this.#firstSegment++)
      rmSync(this.#pathOf(this.#firstSegment), { force: true });
    // a file that is open takes room after its removal
    if (this.#older !== undefined && this.#older.segment < segment) this.#closeOlder();
    return this.#firstSegment - before;
  }

  #segments(): readonly Segment[] {
    if (this.#bytes === 0) return this.#file === undefined ? [] : [{ path: this.#pathOf(0), bytes: 0 }];
    const found: Segment[] = [];
    for (let at = this.#firstSegment * this.#segmentBytes; at < this.#bytes; ) {
      const { path, left } = this.locate(at);
      found.push({ path, bytes: left });
      at += left;
    }
    return found;
  }

  #pathOf(segment: number): string {
    return this.#file?.segment === segment ? this.#file.path : `${this.#options.place}.${segment}`;
  }

  #wake(): void {
    this.#more?.resolve();
    this.#more = undefined;
  }
}

/** Of the event loop: it comes also where no reader moves on. */
function aTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function full(): Error {
  return driverError("Write", "UNAVAILABLE", "pipe spool full");
}
