/** How far a page of a history can be trusted: seqs have no gaps, each hash matches its record and the one before. */
import { Fault } from "../../abi/errors.ts";
import { chainHash } from "./chain.ts";
import type { ChainedRecord, LedgerReader, PageBound } from "./ledger.ts";

export interface CheckedPage {
  readonly good: readonly ChainedRecord[];
  /** The seq of the first record that cannot be trusted; null: the whole page is good. */
  readonly damagedAt: number | null;
}

/** A damaged or missing record; code INTERNAL. */
export class DamagedRecord extends Fault {
  readonly seq: number;
  constructor(proc: string, seq: number, cause?: unknown) {
    const why = cause instanceof Error ? `: ${cause.message}` : "";
    const message = `record ${seq} of process ${proc} is damaged or missing${why}`;
    super({ code: "INTERNAL", message, fact: { kind: "damaged", pid: null }, cause });
    this.seq = seq;
  }
}

/** One history, as far as it can be trusted. */
export class CheckedHistory {
  readonly #reader: LedgerReader;
  readonly #proc: string;

  constructor(reader: LedgerReader, proc: string) {
    this.#reader = reader;
    this.#proc = proc;
  }

  page(fromSeq: number, most: PageBound): CheckedPage {
    const lastSeq = this.#reader.lastSeq(this.#proc);
    if (lastSeq === undefined || lastSeq < fromSeq) return { good: [], damagedAt: null };
    const { before, page } = this.#pageAfter(fromSeq, most);
    const checked = check(before, fromSeq, page);
    if (checked.damagedAt !== null) return this.#damagedOrGone(checked.good, checked.damagedAt);
    const next = fromSeq + page.length;
    const isCut = page.length < most.records && next <= lastSeq && this.#hashBefore(next + 1) === undefined;
    return isCut ? { ...checked, damagedAt: next } : checked;
  }

  /** Single records, by rising seq, each checked by the hash of the one before it. */
  picked(seqs: readonly number[], maxChars: number): CheckedPage {
    const lastSeq = this.#reader.lastSeq(this.#proc) ?? 0;
    const { records, isCut } = this.#reader.pick(this.#proc, seqs, maxChars);
    const found = new Map(records.map((record) => [record.seq, record]));
    const good: ChainedRecord[] = [];
    for (const seq of seqs) {
      const record = found.get(seq);
      // a record that was never written is not damage
      if (seq > lastSeq || (record === undefined && isCut)) break;
      if (record === undefined) return this.#damagedOrGone(good, seq);
      const { damagedAt } = check(seq > 1 ? record.before : this.#hashBefore(seq), seq, [record]);
      if (damagedAt !== null) return this.#damagedOrGone(good, damagedAt);
      good.push(record);
    }
    return { good, damagedAt: null };
  }

  /** Reads the previous record in the same query: most pages are small, and one query costs half of two. */
  #pageAfter(fromSeq: number, most: PageBound): PageAfter {
    if (fromSeq > 1) {
      const wider = { ...most, records: most.records + 1 };
      const [first, ...page] = this.#reader.page(this.#proc, fromSeq - 1, wider);
      const isThere = first?.seq === fromSeq - 1;
      // a large previous record may leave no room for the requested ones
      if (isThere && page.length > 0) return { before: first.hash, page };
    }
    return { before: this.#hashBefore(fromSeq), page: this.#reader.page(this.#proc, fromSeq, most) };
  }

  /** If the whole history was removed meanwhile, the page is empty rather than damaged. */
  #damagedOrGone(good: readonly ChainedRecord[], damagedAt: number): CheckedPage {
    const isGone = this.#reader.lastSeq(this.#proc) === undefined;
    return isGone ? { good: [], damagedAt: null } : { good, damagedAt };
  }

  #hashBefore(seq: number): Uint8Array | undefined {
    return this.#reader.hashBefore(this.#proc, seq);
  }
}

interface PageAfter {
  /** The hash that the page's first record follows; undefined: the previous record is missing. */
  readonly before: Uint8Array | undefined;
  readonly page: readonly ChainedRecord[];
}

function check(before: Uint8Array | undefined, fromSeq: number, page: readonly ChainedRecord[]): CheckedPage {
  if (before === undefined) return { good: [], damagedAt: fromSeq - 1 };
  let previous = before;
  for (const [n, record] of page.entries()) {
    const isNext = record.seq === fromSeq + n && sameBytes(record.hash, chainHash(previous, record));
    if (!isNext) return { good: page.slice(0, n), damagedAt: fromSeq + n };
    previous = record.hash;
  }
  return { good: page, damagedAt: null };
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
