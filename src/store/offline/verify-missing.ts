/**
 * Decides whether missing lsns are explained. Each history removed by retention left a tombstone, each one cut by fsck
 * a repair record: the number of removed records, and their first and last lsn. A missing lsn is attributed to the
 * removal that ends first among those with room for it; if none has room, the lsn is unexplained.
 */

export interface Removal {
  /** First and last lsn of the removed records. */
  readonly first: number;
  readonly last: number;
  readonly records: number;
}

export class MissingRecords {
  /** Removals by rising first lsn. */
  readonly #removals: readonly Removal[];
  #next = 0;
  /** Removals that cover the current lsn and have room, by rising last lsn. */
  #open: { last: number; room: number }[] = [];

  constructor(removals: readonly Removal[]) {
    this.#removals = [...removals].sort((a, b) => a.first - b.first);
  }

  /** The first unexplained lsn of `from` … `to`, all of which are missing; the lsns must rise from call to call. */
  unexplained(from: number, to: number): number | undefined {
    let lsn = from;
    while (lsn <= to) {
      this.#admit(lsn);
      const taker = this.#open[0];
      if (taker === undefined) return lsn;
      // up to where it is full, it ends, or another removal begins that may end sooner
      const nextFirst = this.#removals[this.#next]?.first ?? Number.POSITIVE_INFINITY;
      const count = Math.min(taker.room, Math.min(to, taker.last, nextFirst - 1) - lsn + 1);
      taker.room -= count;
      lsn += count;
      if (taker.room === 0) this.#open.shift();
    }
    return undefined;
  }

  #admit(lsn: number): void {
    for (const { first, last, records } of this.#removals.slice(this.#next)) {
      if (first > lsn) break;
      this.#open.push({ last, room: records });
      this.#next++;
    }
    this.#open = this.#open
      .filter(({ last, room }) => last >= lsn && room > 0)
      .sort((a, b) => a.last - b.last);
  }
}
