/** The hash chains of all processes, followed record by record in lsn order. */
import type { FindingCode } from "../../kernel/ports/journal-tools.ts";
import { chainHash, genesis } from "../journal/chain.ts";
import { type HashedRecord, sameBytes, type ToolsDatabase } from "./database.ts";

export interface ChainTail {
  readonly seq: number;
  readonly lsn: number;
  readonly pid: number;
  readonly hash: Uint8Array;
}

/** Why a record does not follow from the one before it. */
export interface Misfit {
  readonly code: Extract<FindingCode, "gap" | "bad_hash">;
  /** The expected seq. */
  readonly seq: number;
  /** The lsn of the process's last record that fits; 0: none does. */
  readonly afterLsn: number;
  readonly detail: string;
}

export class Chains {
  /** The last record of each process so far. */
  readonly tails = new Map<string, ChainTail>();
  readonly #db: ToolsDatabase;
  readonly #kernelId: string;

  constructor(db: ToolsDatabase) {
    this.#db = db;
    this.#kernelId = db.kernelId;
  }

  /** Checks the next record; the tail advances only if the record fits. */
  take(record: HashedRecord): Misfit | undefined {
    const before = this.tails.get(record.proc);
    const expected = (before?.seq ?? 0) + 1;
    const place = { seq: expected, afterLsn: before?.lsn ?? 0 };
    if (record.seq !== expected) return { code: "gap", ...place, detail: gapText(expected, record.seq) };
    const previous = before?.hash ?? baseOf(this.#db, this.#kernelId, record);
    if (!sameBytes(chainHash(previous, record), record.hash))
      return { code: "bad_hash", ...place, detail: HASH_TEXT };
    const { seq, lsn, pid, hash } = record;
    this.tails.set(record.proc, { seq, lsn, pid, hash });
    return undefined;
  }
}

const HASH_TEXT = "its hash does not follow from the record before it and its own content";

function gapText(expected: number, found: number): string {
  if (found < expected) return `record ${found} is there twice`;
  const last = found - 1;
  return last === expected
    ? `record ${expected} of its process is missing`
    : `records ${expected} to ${last} of its process are missing`;
}

/** The hash that a process's chain begins with; a fork continues the chain of its parent. */
export function baseOf(db: ToolsDatabase, kernelId: string, first: HashedRecord): Uint8Array {
  const parent = first.kind === "process.forked" ? forkedFrom(first.body) : undefined;
  const inherited = parent && (db.hashAt(parent.from, parent.at) ?? db.cutHash(parent.from, parent.at));
  return inherited ?? genesis(kernelId, first.proc);
}

/** undefined: the body cannot be read. */
export function forkedFrom(body: string): { from: string; at: number } | undefined {
  try {
    const { from, at } = (JSON.parse(body) ?? {}) as { from?: unknown; at?: unknown };
    return typeof from === "string" && typeof at === "number" ? { from, at } : undefined;
  } catch {
    return undefined;
  }
}
