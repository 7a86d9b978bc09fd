/** How far a page of a history can be trusted: numbers without gaps, and each hash that of its record and the one before. */
import { Fault } from "../abi/errors.ts";
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
  const row = reader.row(proc);
  if (row === undefined || row.lastSeq < fromSeq) return { good: [], damagedAt: null };
  const page = reader.page(proc, fromSeq, limit, maxChars);
  const checked = check(reader, proc, fromSeq, page);
  if (checked.damagedAt !== null)
    return reader.row(proc) === undefined ? { good: [], damagedAt: null } : checked;
  const next = fromSeq + page.length;
  const isCut = page.length < limit && next <= row.lastSeq && reader.hashBefore(proc, next + 1) === undefined;
  return isCut ? { ...checked, damagedAt: next } : checked;
}

function check(
  reader: LedgerReader,
  proc: string,
  fromSeq: number,
  page: readonly ChainedRecord[],
): CheckedPage {
  let previous = reader.hashBefore(proc, fromSeq);
  if (previous === undefined) return { good: [], damagedAt: fromSeq - 1 };
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
