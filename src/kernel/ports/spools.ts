/**
 * Bytes kept on disk between a writer and its readers, so that neither waits for the other. `dev/out` implements it.
 */
import type { ProcUuid } from "../../abi/ids.ts";

/** The name of the spool with a native's stdout and stderr, in order of arrival. */
export function outputName(uuid: ProcUuid): string {
  return `${uuid}.log`;
}

export interface Spool {
  /** Bytes written so far. */
  readonly bytes: number;
  /** Bytes dropped because the spool was full. */
  readonly droppedBytes: number;
  /** The position of the oldest byte left. */
  readonly oldest: number;
  /** Somebody reads it. */
  readonly isRead: boolean;
  /** Set by its writer; called before a reader is made. */
  beforeRead: (() => void) | undefined;
  /**
   * Written synchronously to the page cache; nothing of the chunk is kept. Over the limit: `drop` drops the oldest, `refuse` throws UNAVAILABLE `pipe
   * spool full`; for `block` the writer awaits `room` between its writes.
   */
  write(chunk: Uint8Array): void;
  /**
   * With `block`: resolves once the disk has all and so much has been read that less than half of the limit is unread, or at the end; after a
   * turn of the event loop where there is room, but readers are behind. undefined: the writer goes on.
   */
  room(): Promise<void> | undefined;
  /** Reads at once what was written not long ago; how many bytes. 0: it is not at hand. */
  recent(from: number, into: Buffer): number;
  /** Kept beside it until its end, for a later daemon (`SpoolStore.unfinished`); null: not any more. */
  note(words: string | null): void;
  /** No more will come. Idempotent. */
  end(): void;
  /** Reads from a byte position; if that was dropped, from the oldest byte left. Readers are independent. */
  reader(from: number): BlockReader;
  /** Ends it, wakes its readers, and removes the file. */
  remove(): Promise<void>;
}

/** A spool of which one reads alone. */
export type KeptSpool = Pick<Spool, "bytes" | "reader">;

/** A reader of a spool that is at hand: it also says where it is. */
export interface PositionedReader extends SpoolReader {
  /** The position of the next byte. */
  readonly position: number;
}

export interface BlockReader extends PositionedReader {
  /** As `read`, but into what `lend` gives once some are there; how many came. 0: the end. */
  readInto(length: number, signal: AbortSignal, lend: Lend): Promise<number>;
}

export interface SpoolReader {
  /** Bytes that can be read without waiting. */
  readonly available: number;
  /** The next bytes, at most `length`; waits for some; empty is the end. Rejects with the signal's reason. */
  read(length: number, signal: AbortSignal): Promise<Uint8Array>;
  close(): void;
}

/** Room for so many bytes, from the position of the reader on. Of several calls the last counts. */
export type Lend = (bytes: number) => readonly Buffer[];

/** What happens at the limit, which counts all bytes for `drop` and only unread ones for the others. */
export type OnFull = "drop" | "refuse" | "block";

export interface SpoolOptions {
  /** Instead of 64 MiB; `drop` drops the oldest half of it. */
  readonly maxBytes?: number | undefined;
  /** Whose it counts as once it has ended: the pid that started its program. */
  readonly owner?: string;
}

/** A spool whose daemon died while there was a note beside it. */
export interface Unfinished {
  readonly name: string;
  readonly note: string;
  /** Adds the rest, and removes the note. */
  finish(rest: Uint8Array): void;
}

export interface SpoolStore {
  /** `name`: a file name. */
  open(name: string, onFull: OnFull, options?: SpoolOptions): Spool;
  /**
   * A reader from the oldest byte of a spool that is being written, or that has ended, also under an earlier daemon.
   * undefined: not found, or removed after 24 h or to make room for newer ones (those of 1,000 programs of
   * its owner; of 4,000 in total, or 4 GiB, by whoever keeps the most).
   */
  find(name: string): SpoolReader | undefined;
  /**
   * One that has ended, also under an earlier daemon, with the positions that it had. `written`: its bytes, where they are
   * known. undefined: as of `find`, or nothing tells the positions of what is left.
   */
  past(name: string, written?: number): KeptSpool | undefined;
  /** Asked for once, before any is opened. */
  unfinished(): readonly Unfinished[];
}
