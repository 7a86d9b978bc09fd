/**
 * Checks the records of a file one after the other: none is missing, duplicated or out of place, and if the file has
 * hashes, none was changed. The first bad record ends the check: INVALID.
 */
import { Fault } from "../../abi/errors.ts";
import type { JournalLine } from "../../abi/journal/line.ts";
import type { JournalRecord } from "../../kernel/ports/journal.ts";
import { encodeBody } from "../../store/journal/body.ts";
import { chainHash, genesis } from "../../store/journal/chain.ts";

/** The data of a line besides its record; a file from another source has none of it. */
type Line = JournalRecord & Partial<Pick<JournalLine, "hash" | "stored" | "kernel">>;

export async function* inChain(records: AsyncIterable<JournalRecord>): AsyncGenerator<JournalRecord> {
  const chain = new Chain();
  for await (const record of records) {
    chain.take(record as Line);
    yield record;
  }
}

class Chain {
  #last: Line | undefined;
  #hash: Uint8Array | undefined;
  /** Processes whose records are complete: the records of a fork follow those it inherited. */
  readonly #over = new Set<string>();

  take(record: Line): void {
    const last = this.#last;
    const isSame = last?.proc === record.proc;
    if (!isSame && last !== undefined) this.#checkFork(record, last);
    const expected = isSame ? last.seq + 1 : 1;
    if (record.seq !== expected) throw misplaced(expected, record.seq);
    if (last?.hash !== undefined && record.hash === undefined) throw changed(record.seq, "it has no hash");
    const previous = last === undefined ? baseOf(record) : this.#hash;
    if (previous !== undefined && !follows(record, previous)) throw changed(record.seq);
    this.#last = record;
    this.#hash = hashOf(record);
  }

  #checkFork({ proc, seq, kind, body }: Line, last: Line): void {
    const { from, at } = (body ?? {}) as { from?: unknown; at?: unknown };
    const isFork = kind === "process.forked" && from === last.proc && at === last.seq;
    if (!isFork || this.#over.has(proc)) throw invalid(`record ${seq} is of another process: ${proc}`);
    this.#over.add(last.proc);
  }
}

/** The hash that a first record is chained to; undefined: the file does not contain it. */
function baseOf({ proc, kernel }: Line): Uint8Array | undefined {
  return typeof kernel === "string" ? genesis(kernel, proc) : undefined;
}

function hashOf({ hash }: Line): Uint8Array | undefined {
  return typeof hash === "string" ? Buffer.from(hash, "hex") : undefined;
}

/** A record without a hash is accepted as it is. */
function follows(record: Line, previous: Uint8Array): boolean {
  const own = hashOf(record);
  if (own === undefined) return true;
  const body = storedText(record);
  if (body === undefined) return false;
  const { lsn, proc, pid, seq, epoch, kind, v, call = null, at } = record;
  const { mono = null } = record as { mono?: unknown };
  const stored = { lsn, proc, pid, seq, epoch, kind, v, call, at, mono: mono as number, body };
  return Buffer.compare(own, chainHash(previous, stored)) === 0;
}

/** The text that the hash covers; undefined: the body differs from that text. */
function storedText({ body, stored }: Line): string | undefined {
  if (stored === undefined) return JSON.stringify(body);
  const plain = JSON.stringify(body);
  // a body part stored separately and since removed appears in its stored form
  return encodeBody(body).text === stored || plain === JSON.stringify(JSON.parse(stored))
    ? stored
    : undefined;
}

function changed(seq: number, why = "its hash is not that of what it says"): Fault {
  return invalid(`record ${seq} was changed: ${why}`);
}

function misplaced(expected: number, seq: number): Fault {
  if (seq < expected)
    return invalid(`record ${seq} is out of place: it stands behind record ${expected - 1}`);
  const missing = seq === expected + 1 ? `record ${expected} is` : `records ${expected} to ${seq - 1} are`;
  return invalid(`${missing} missing or out of place: record ${seq} stands there`);
}

function invalid(message: string): Fault {
  return new Fault({ code: "INVALID", message, fact: { kind: "bad_recording" } });
}
