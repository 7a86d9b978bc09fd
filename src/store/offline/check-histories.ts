/**
 * Checks that no record of any process is missing, that each follows from the one before it, and that each can be read.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../../abi/errors.ts";
import { PID_KERNEL } from "../../abi/ids.ts";
import { KERNEL_UUID } from "../../kernel/ports/journal.ts";
import { chainHash } from "../journal/chain.ts";
import type { Findings } from "./check-findings.ts";
import { type HashedRecord, sameBytes, type ToolsDatabase } from "./database.ts";
import type { Pace } from "./pace.ts";
import { baseOf, Chains, forkedFrom, type Misfit } from "./verify-chain.ts";
import type { MissingRecords } from "./verify-missing.ts";

/** Records checked per history without `full`. */
const TAIL_RECORDS = 1_000;

/** A history that is good up to record `after`, and damaged behind it. */
export interface BrokenHistory {
  readonly proc: string;
  readonly pid: number;
  readonly after: number;
}

export interface HistoryCheck {
  readonly db: ToolsDatabase;
  readonly found: Findings;
  readonly pace: Pace;
  readonly progress: (records: number) => void;
  /** True for histories that this check skips. */
  readonly isLeftOut: (record: { proc: string; pid: number }) => boolean;
}

/** The result of a walk through the records. */
class HistoryResult {
  records = 0;
  processes = 0;
  readonly broken = new Map<string, BrokenHistory>();
  readonly losses: Loss[] = [];
  readonly #found: Findings;

  constructor(found: Findings) {
    this.#found = found;
  }

  breakOff({ proc, pid, lsn }: HashedRecord, { code, seq, detail }: Break): void {
    const after = seq - 1;
    this.broken.set(proc, { proc, pid, after });
    // the kernel's own history is never cut: it contains roots and tombstones
    const repair = pid === PID_KERNEL ? {} : { repair: cutText(pid, after) };
    this.#found.damage({ code, detail, proc, pid, seq, lsn, ...repair });
  }

  /** Reports those of the missing lsns `from` … `to` that no removal explains. */
  lose(missing: MissingRecords, from: number, to: number): void {
    const first = from > to ? undefined : missing.unexplained(from, to);
    if (first === undefined) return;
    const loss = { first, last: first, records: 0 };
    for (let lsn: number | undefined = first; lsn !== undefined; lsn = missing.unexplained(lsn + 1, to)) {
      loss.last = lsn;
      loss.records++;
    }
    this.losses.push(loss);
    const what =
      loss.records === 1
        ? `record lsn ${first} is`
        : `${loss.records} records of lsn ${first} to ${loss.last} are`;
    const detail = `${what} missing, and no record says why`;
    this.#found.damage({ code: "gap", detail, lsn: first, repair: LOSS_REPAIR });
  }
}

interface Break {
  readonly code: "gap" | "bad_hash" | "bad_body";
  readonly seq: number;
  readonly detail: string;
}

/** Records that are missing between two lsns (both included) without a record that explains it. */
export interface Loss {
  readonly first: number;
  last: number;
  records: number;
}

export const LOSS_REPAIR = "write the loss down";

type Take = (record: HashedRecord) => Promise<void> | undefined;

/** Checks every record, in lsn order; `take` receives the good ones. */
export async function checkAllRecords(
  check: HistoryCheck,
  missing: MissingRecords,
  take: Take,
): Promise<HistoryResult> {
  const { db, found, pace, progress } = check;
  const chains = new Chains(db);
  const result = new HistoryResult(found);
  const reader = new DamagedReader(db, found);
  const lastLsn = db.lastLsn();
  const procs = new Set<string>();
  for (let lsn = 0; lsn < lastLsn; ) {
    const page = reader.page(lsn, lastLsn);
    if (page.length === 0) break;
    for (const record of page) {
      result.lose(missing, lsn + 1, record.lsn - 1);
      lsn = record.lsn;
      result.records++;
      if (record.pid !== PID_KERNEL) procs.add(record.proc);
      if (check.isLeftOut(record) || result.broken.has(record.proc)) continue;
      const misfit = chains.take(record) ?? misfitOfBody(record);
      if (misfit === undefined) await take(record);
      else result.breakOff(record, misfit);
      checkBlobNames(check, record);
      if (misfit === undefined) checkPrefix(check, record);
    }
    progress(result.records);
    await pace.next();
  }
  result.processes = procs.size;
  return result;
}

/** Checks the newest records of every process. It passes no records on, because earlier ones were not checked. */
export async function checkTails(check: HistoryCheck): Promise<HistoryResult> {
  const { db, pace, progress } = check;
  const kernelId = db.kernelId;
  const result = new HistoryResult(check.found);
  for (let proc = db.nextProc(""); proc !== undefined; proc = db.nextProc(proc)) {
    const tail = db.tail(proc);
    if (proc !== KERNEL_UUID) result.processes++;
    if (tail === undefined || check.isLeftOut({ proc, pid: tail.pid })) continue;
    let expected = Math.max(1, tail.seq - TAIL_RECORDS + 1);
    let previous = expected === 1 ? undefined : db.hashAt(proc, expected - 1);
    for (let page = db.bySeq(proc, expected); page.length > 0; page = db.bySeq(proc, expected)) {
      for (const record of page) {
        const misfit = misfitAt(expected, previous ?? baseOf(db, kernelId, record), record);
        if (misfit !== undefined) result.breakOff(record, misfit);
        if (misfit !== undefined) break;
        [previous, expected] = [record.hash, record.seq + 1];
        result.records++;
      }
      progress(result.records);
      await pace.next();
      if (result.broken.has(proc)) break;
    }
  }
  return result;
}

function misfitAt(expected: number, previous: Uint8Array, record: HashedRecord): Misfit | undefined {
  const place = { seq: expected, afterLsn: 0 };
  if (record.seq !== expected)
    return { code: "gap", ...place, detail: `record ${expected} of its process is missing` };
  return sameBytes(chainHash(previous, record), record.hash)
    ? undefined
    : {
        code: "bad_hash",
        ...place,
        detail: "its hash does not follow from the record before it and its own content",
      };
}

function misfitOfBody({ seq, body }: HashedRecord): Break | undefined {
  try {
    JSON.parse(body);
    return undefined;
  } catch (error) {
    return { code: "bad_body", seq, detail: `its body cannot be read: ${messageOf(error)}` };
  }
}

function cutText(pid: number, after: number): string {
  return after === 0
    ? `move all records of pid ${pid} to the quarantine`
    : `cut pid ${pid} after its record ${after}; what is behind it goes to the quarantine`;
}

/** Reports a fork whose base record no longer exists, for example because it was cut. */
function checkPrefix({ db, found }: HistoryCheck, record: HashedRecord): void {
  const parent = record.kind === "process.forked" ? forkedFrom(record.body) : undefined;
  if (parent === undefined || db.hashAt(parent.from, parent.at) !== undefined) return;
  const { proc, pid, seq, lsn } = record;
  const detail = `record ${parent.at} of ${parent.from}, which it continues, is no longer there`;
  found.damage({ code: "gap", detail, proc, pid, seq, lsn });
}

function checkBlobNames({ db, found }: HistoryCheck, { body, proc, pid, seq, lsn }: HashedRecord): void {
  if (!body.includes('{"$blob":"')) return;
  for (const [, digest = ""] of body.matchAll(/\{"\$blob":"([0-9a-f]{64})"/g)) {
    const path = join(db.dir, "blobs", digest.slice(0, 2), digest.slice(2));
    if (!existsSync(path))
      found.damage({ code: "missing_blob", detail: `${path} is gone`, proc, pid, seq, lsn });
  }
}

/** Reads records by lsn and skips places where the file cannot be read. */
class DamagedReader {
  readonly #db: ToolsDatabase;
  readonly #found: Findings;

  constructor(db: ToolsDatabase, found: Findings) {
    this.#db = db;
    this.#found = found;
  }

  /** The next page of records behind `after`, past any unreadable place. Empty: no more records. */
  page(after: number, upTo: number): readonly HashedRecord[] {
    let problem = "";
    for (let [from, stride, limit] = [after, 1, 256]; from < upTo; ) {
      try {
        const page = this.#db.byLsn(from, upTo, limit).filter(({ lsn }) => lsn > after);
        if (problem !== "") this.#tell(after + 1, (page[0]?.lsn ?? upTo + 1) - 1, problem);
        return page;
      } catch (error) {
        problem = messageOf(error);
        // first reads record by record, then skips unreadable records in ever longer steps
        if (limit > 1) limit = 1;
        else {
          from += stride;
          stride *= 2;
        }
      }
    }
    if (problem !== "") this.#tell(after + 1, upTo, problem);
    return [];
  }

  #tell(from: number, to: number, problem: string): void {
    if (from > to) return;
    const what = from === to ? `record lsn ${from}` : `records lsn ${from} to ${to}`;
    this.#found.damage({ code: "database", detail: `${what} cannot be read: ${problem}`, lsn: from });
  }
}
