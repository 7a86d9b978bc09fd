/** How far a page of a history can be trusted: numbers without gaps, and each hash that of its record and the one before. */
import { Fault } from "../../abi/errors.ts";
import { chainHash } from "./chain.ts";
import type { ChainedRecord, LedgerReader } from "./ledger.ts";

export interface CheckedPage {
  readonly good: readonly ChainedRecord[];
  /** The first record that cannot be trusted; null: none in this page. */
  readonly damagedAt: number | null;
}

/** INTERNAL. */
export class DamagedRecord extends Fault {
  readonly seq: number;
  constructor(proc: string, seq: number, cause?: unknown) {
    const why = cause instanceof Error ? `: ${cause.message}` : "";
    const message = `record ${seq} of process ${proc} is damaged or missing${why}`;
    super({ code: "INTERNAL", message, hint: "crux fsck", cause });
    this.seq = seq;
  }
}

export function readPage(
  reader: LedgerReader,
  proc: string,
  fromSeq: number,
  limit: number,
  maxChars: number,
): CheckedPage {
  const lastSeq = reader.lastSeq(proc);
  if (lastSeq === undefined || lastSeq < fromSeq) return { good: [], damagedAt: null };
  const { before, page } = pageAfter(reader, proc, fromSeq, limit, maxChars);
  const checked = check(before, fromSeq, page);
  if (checked.damagedAt !== null) return damagedOrGone(reader, proc, checked.good, checked.damagedAt);
  const next = fromSeq + page.length;
  const isCut = page.length < limit && next <= lastSeq && reader.hashBefore(proc, next + 1) === undefined;
  return isCut ? { ...checked, damagedAt: next } : checked;
}

interface PageAfter {
  /** The hash that its first record follows; undefined: what lies before is missing. */
  readonly before: Uint8Array | undefined;
  readonly page: readonly ChainedRecord[];
}

/** The record before is read along: most pages are small, and one look into the database is half of two. */
function pageAfter(
  reader: LedgerReader,
  proc: string,
  fromSeq: number,
  limit: number,
  maxChars: number,
): PageAfter {
  if (fromSeq > 1) {
    const [first, ...page] = reader.page(proc, fromSeq - 1, limit + 1, maxChars);
    const isThere = first?.seq === fromSeq - 1;
    // one that is large leaves no room for what is asked for
    if (isThere && page.length > 0) return { before: first.hash, page };
  }
  return { before: reader.hashBefore(proc, fromSeq), page: reader.page(proc, fromSeq, limit, maxChars) };
}

/** Single records, by rising seq, each checked by the hash of the one before it. */
export function readPicked(
  reader: LedgerReader,
  proc: string,
  seqs: readonly number[],
  maxChars: number,
): CheckedPage {
  const lastSeq = reader.lastSeq(proc) ?? 0;
  const { records, isCut } = reader.pick(proc, seqs, maxChars);
  const found = new Map(records.map((record) => [record.seq, record]));
  const good: ChainedRecord[] = [];
  for (const seq of seqs) {
    const record = found.get(seq);
    // one that nobody ever wrote is no damage
    if (seq > lastSeq || (record === undefined && isCut)) break;
    if (record === undefined) return damagedOrGone(reader, proc, good, seq);
    const { damagedAt } = check(seq > 1 ? record.before : reader.hashBefore(proc, seq), seq, [record]);
    if (damagedAt !== null) return damagedOrGone(reader, proc, good, damagedAt);
    good.push(record);
  }
  return { good, damagedAt: null };
}

/** A whole history that is gone meanwhile is no damage. */
function damagedOrGone(
  reader: LedgerReader,
  proc: string,
  good: readonly ChainedRecord[],
  damagedAt: number,
): CheckedPage {
  return reader.lastSeq(proc) === undefined ? { good: [], damagedAt: null } : { good, damagedAt };
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
