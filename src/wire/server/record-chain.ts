/**
 * Records of a file, each checked against the one before it as it passes: none is missing, twice or out of place, and where
 * the file has hashes, none is another than was written. The first that is named ends it: INVALID.
 */
import { Fault } from "../../abi/errors.ts";
import type { JournalLine } from "../../abi/journal-line.ts";
import type { JournalRecord } from "../../kernel/ports/journal.ts";
import { encodeBody } from "../../store/journal/body.ts";
import { chainHash, genesis } from "../../store/journal/chain.ts";

/** What is known of a line besides its record; a file of another make has none of it. */
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
  /** Processes whose records are over: a fork's come behind those it remembers. */
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

/** What a first record follows; undefined: the file does not say. */
function baseOf({ proc, kernel }: Line): Uint8Array | undefined {
  return typeof kernel === "string" ? genesis(kernel, proc) : undefined;
}

function hashOf({ hash }: Line): Uint8Array | undefined {
  return typeof hash === "string" ? Buffer.from(hash, "hex") : undefined;
}

/** One without a hash is taken as it is. */
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

/** The text that the hash is over; undefined: the body is another than that text. */
function storedText({ body, stored }: Line): string | undefined {
  if (stored === undefined) return JSON.stringify(body);
  const plain = JSON.stringify(body);
  // what was kept apart and is gone stands as it was stored
  return encodeBody(body).text === stored || plain === JSON.stringify(JSON.parse(stored))
    ? stored
    : undefined;
}

const HINT = "crux journal <pid> --json --with-prefix > file writes it again";

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
  return new Fault({ code: "INVALID", message, hint: HINT });
}
