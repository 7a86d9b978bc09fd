/** What was removed on purpose, according to the kernel's own history: tombstones of retention, cuts of fsck. */
import { KERNEL_UUID } from "../../kernel/ports/journal.ts";
import type { Tail } from "../journal/chain.ts";
import type { ToolsDatabase } from "./database.ts";
import type { Pace } from "./pace.ts";
import type { Removal } from "./verify-missing.ts";

/** Body of `journal.tombstone`, version 1. Hashes in hex. */
export interface Tombstone {
  readonly proc: string;
  readonly pid: number;
  /** The seq of its last record, and so the number of its records. */
  readonly seq: number;
  readonly hash: string;
  /** First and last lsn of its records. */
  readonly first: number;
  readonly last: number;
}

/** Body of `journal.repair`, version 1: records `seq` and later of that process went to the quarantine. */
export interface Cut {
  readonly proc: string;
  readonly pid: number;
  readonly seq: number;
  readonly records: number;
  readonly first: number;
  readonly last: number;
  /** Hashes, in hex, of the cut records that forks are based on, by seq. */
  readonly bases?: Readonly<Record<string, string>>;
}

export interface Removed extends Removal {
  readonly proc: string;
  /** The lsn of the tombstone or repair record. */
  readonly lsn: number;
  /** The process's last record, if the whole history was removed. */
  readonly tail: Tail | undefined;
}

/** All removals, by rising lsn of their record. Unreadable records are left out; they explain no missing lsn. */
export async function readRemoved(db: ToolsDatabase, pace: Pace): Promise<Removed[]> {
  const found: Removed[] = [];
  for (const kind of ["journal.tombstone", "journal.repair"] as const) {
    for (let seq = 0; ; ) {
      const page = db.ofKind(KERNEL_UUID, kind, seq);
      for (const { lsn, body } of page) {
        const removed = kind === "journal.tombstone" ? fromTombstone(lsn, body) : fromCut(lsn, body);
        if (removed !== undefined) found.push(removed);
      }
      const last = page.at(-1);
      if (last === undefined) break;
      seq = last.seq;
      await pace.next();
    }
  }
  return found.sort((a, b) => a.lsn - b.lsn);
}

function fromTombstone(lsn: number, text: string): Removed | undefined {
  const body = parsed<Tombstone>(text);
  if (body === undefined || typeof body.hash !== "string" || !isRange(body, body.seq)) return undefined;
  const { proc, seq, first, last } = body;
  return { lsn, proc, first, last, records: seq, tail: { proc, seq, hash: Buffer.from(body.hash, "hex") } };
}

function fromCut(lsn: number, text: string): Removed | undefined {
  const body = parsed<Cut>(text);
  if (body === undefined || !isRange(body, body.records)) return undefined;
  const { proc, first, last, records } = body;
  return { lsn, proc, first, last, records, tail: undefined };
}

function isRange({ proc, first, last }: Partial<Tombstone>, records: unknown): boolean {
  return typeof proc === "string" && [first, last, records].every((value) => Number.isSafeInteger(value));
}

function parsed<T>(text: string): T | undefined {
  try {
    return (JSON.parse(text) as T | null) ?? undefined;
  } catch {
    return undefined;
  }
}
