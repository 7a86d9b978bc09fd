/**
 * Whether the lsns that are not there any more may be missing. Each history that retention removed left a tombstone, each that
 * fsck cut a repair: how many records went, and between which lsns. A missing lsn belongs to the one that ends first of those
 * that have room for it; if none has, nothing explains it.
 */

export interface Removal {
  /** First and last lsn of what was removed. */
  readonly first: number;
  readonly last: number;
  readonly records: number;
}

export class MissingRecords {
  /** By first lsn. */
  readonly #removals: readonly Removal[];
  #next = 0;
  /** Begun, with room: by rising last. */
  #open: { last: number; room: number }[] = [];

  constructor(removals: readonly Removal[]) {
    this.#removals = [...removals].sort((a, b) => a.first - b.first);
  }

  /** The first of the lsns `from` … `to` (both missing, rising from call to call) that nothing explains. */
  unexplained(from: number, to: number): number | undefined {
    let lsn = from;
    while (lsn <= to) {
      this.#admit(lsn);
      const taker = this.#open[0];
      if (taker === undefined) return lsn;
      // until it is full, it ends, or another begins that may end sooner
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
