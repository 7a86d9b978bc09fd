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
  /** Wall clock and monotonic clock, ms. */
  readonly at: number;
  readonly mono: number;
  /** Its own place in the chain, in hex. */
  readonly hash: string;
  /** Of a first record: the kernel whose name its chain begins with (store/chain.ts). */
  readonly kernel?: string;
  /** Whole: what is kept apart is filled in. */
  readonly body: unknown;
  /** The text of the body that the hash is over; absent where it is JSON.stringify(body). */
  readonly stored?: string;
}
