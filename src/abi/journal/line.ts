/** A record as `crux journal --json` prints it, one a line: what a replay reads, and what an outside program can verify. */
export interface JournalLine {
  readonly lsn: number;
  readonly seq: number;
  readonly epoch: number;
  readonly proc: string;
  readonly pid: number;
  readonly kind: string;
  readonly v: number;
  readonly call?: string;
  /** Wall clock: milliseconds since 1970. */
  readonly at: number;
  /** Monotonic clock, ms. */
  readonly mono: number;
  /** Hash of this record and all before it, in hex. */
  readonly hash: string;
  /** First record only: the kernel id that the hash chain begins with (store/journal/chain.ts). */
  readonly kernel?: string;
  /** The whole body; parts that are stored as blobs are filled in. */
  readonly body: unknown;
  /** The text of the body that was hashed; absent: JSON.stringify(body). */
  readonly stored?: string;
}
