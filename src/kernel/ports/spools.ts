/** Bytes kept on disk between who writes and who reads, so that neither waits for the other. `dev/out` implements it. */

export interface Spool {
  /** Bytes written so far. */
  readonly bytes: number;
  /** Forgotten because the spool was full. */
  readonly droppedBytes: number;
  /** Sync to the page cache. Over the limit: `drop` forgets the oldest, `refuse` throws UNAVAILABLE `pipe spool full`. */
  write(chunk: Uint8Array): void;
  /** No more will come. Idempotent. */
  end(): void;
  /** From a byte position on; one that was forgotten goes on with the oldest byte there is. Each reader is its own. */
  reader(from: number): SpoolReader;
  /** Ends it, wakes its readers, and removes the file. */
  remove(): Promise<void>;
}

export interface SpoolReader {
  /** The next bytes, at most `length`; waits for some; empty is the end. Rejects with the signal's reason. */
  read(length: number, signal: AbortSignal): Promise<Uint8Array>;
  close(): void;
}

export interface SpoolStore {
  /** `name`: a file name. `onFull` at 64 MiB: `drop` forgets the oldest half, `refuse` says no. */
  open(name: string, onFull: "drop" | "refuse"): Spool;
  /** What an ended spool kept, also of an earlier daemon; undefined: nothing, or it went after 24 h or 1,000 newer ones. */
  find(name: string): SpoolReader | undefined;
}
