/** A history as lines of JSON, both as stored and with its blobs restored: for the user to read, and for replays. */
import { Fault } from "../../abi/errors.ts";
import { asProcUuid, type ProcUuid } from "../../abi/ids.ts";
import type { JournalLine } from "../../abi/journal/line.ts";
import type { LinePage } from "../../kernel/ports/journal-tools.ts";
import { decodeBody } from "../journal/body.ts";
import { type HashedRecord, PAGE_ROWS, type ToolsDatabase } from "./database.ts";
import type { Pace } from "./pace.ts";

type BlobOf = (digest: string) => Promise<Uint8Array>;

/** Finds a process by pid (the last one that had it) or by UUID. Errors: NOT_FOUND. */
export function findHistory(db: ToolsDatabase, name: string): ProcUuid {
  const isPid = /^\d{1,15}$/.test(name);
  const found = isPid
    ? db.sql("SELECT proc FROM processes WHERE pid = ? ORDER BY last_lsn DESC LIMIT 1").get(Number(name))
        ?.proc
    : db.tail(name) && name;
  if (typeof found === "string") return asProcUuid(found);
  throw new Fault({
    code: "NOT_FOUND",
    message: isPid ? `no history of process ${name}` : `no history of ${name}`,
    fact: { kind: "no_history", pid: isPid ? Number(name) : 0 },
  });
}

/** The lines of one history, or only of one record kind. */
export class HistoryLines {
  readonly #db: ToolsDatabase;
  readonly #proc: string;
  readonly #kind: string | undefined;

  constructor(db: ToolsDatabase, proc: string, kind: string | undefined) {
    this.#db = db;
    this.#proc = proc;
    this.#kind = kind;
  }

  /** The seq of the n-th record from the end. */
  async seqFromEnd(count: number, pace: Pace): Promise<number> {
    const last = this.#db.tail(this.#proc)?.seq ?? 0;
    if (count === 0) return last + 1;
    if (this.#kind === undefined) return Math.max(1, last - count + 1);
    const text =
      "SELECT seq FROM records WHERE proc = ? AND seq BETWEEN ? AND ? AND kind = ? ORDER BY seq DESC";
    let left = count;
    for (let to = last; to > 0; to -= PAGE_ROWS) {
      const found = this.#db.sql(text).all(this.#proc, Math.max(1, to - PAGE_ROWS + 1), to, this.#kind);
      if (found.length >= left) return Number(found[left - 1]?.seq);
      left -= found.length;
      await pace.rest();
    }
    return 1;
  }

  /** A page of lines from `fromSeq` on; with a kind, a page may be empty without being the last. */
  async page(fromSeq: number, blobOf: BlobOf): Promise<LinePage> {
    const page = this.#db.bySeq(this.#proc, fromSeq);
    const lines: string[] = [];
    for (const record of page)
      if (this.#kind === undefined || record.kind === this.#kind)
        lines.push(await lineOf(record, blobOf, this.#db.kernelId));
    const last = page.at(-1);
    return { lines, nextSeq: last === undefined ? fromSeq : last.seq + 1 };
  }
}

async function lineOf(record: HashedRecord, blobOf: BlobOf, kernel: string): Promise<string> {
  const { lsn, seq, epoch, proc, pid, kind, v, call, at, mono, hash, body: stored } = record;
  const body = await whole(stored, blobOf);
  const line: JournalLine = {
    ...{ lsn, seq, epoch, proc, pid, kind, v },
    ...(call === null ? {} : { call }),
    ...{ at, mono, hash: Buffer.from(hash).toString("hex") },
    ...(seq === 1 ? { kernel } : {}),
    body,
    ...(JSON.stringify(body) === stored ? {} : { stored }),
  };
  return JSON.stringify(line);
}

/** The body with its blobs. If a blob is missing or damaged, the body as stored, so that the rest remains readable. */
async function whole(stored: string, blobOf: BlobOf): Promise<unknown> {
  try {
    return await decodeBody(stored, blobOf);
  } catch {
    try {
      return JSON.parse(stored);
    } catch {
      return null;
    }
  }
}
