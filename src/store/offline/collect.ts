/**
 * Retention: histories of ended processes are removed by age and, when the journal is nearly full, oldest first; blobs
 * that no record names are removed after a day. A removed history leaves a tombstone. The database reuses the freed
 * space, but its file does not shrink.
 */
import { rm } from "node:fs/promises";
import { asPid, asProcUuid, type Pid } from "../../abi/ids.ts";
import { type Journal, KERNEL_UUID } from "../../kernel/ports/journal.ts";
import type { CollectReport, Retention } from "../../kernel/ports/journal-tools.ts";
import { blobFiles, isNamed } from "./check-blobs.ts";
import { type EndedHistory, type Fork, tooOld, withoutPrefixes } from "./collect-choice.ts";
import { Remover } from "./collect-removal.ts";
import type { ToolsDatabase } from "./database.ts";
import type { WalkLock } from "./lock.ts";
import type { Pace } from "./pace.ts";
import { measureUsage } from "./usage.ts";

/** The share of `maxBytes` above which space is freed; at `maxBytes` the writer stops. */
const FULL_SHARE = 0.9;
const BLOB_GRACE_MS = 24 * 3600 * 1000;
/** Bytes of a record beside its body: columns, hash, indexes. */
const RECORD_BYTES = 300;

interface CollectOptions {
  readonly path: string;
  readonly db: ToolsDatabase;
  readonly journal: Pick<Journal, "append" | "epoch">;
  readonly lock: WalkLock;
  readonly pace: Pace;
  readonly retention: Retention;
  /** Wall clock, ms. */
  readonly now: number;
  readonly dryRun: boolean;
  /** Whether the process is in memory; then its history stays. */
  readonly isHeld: (pid: Pid) => boolean;
}

type Gone = CollectReport["processes"][number];

export async function collectGarbage(options: CollectOptions): Promise<CollectReport> {
  const run = new Collection(options);
  try {
    return await run.run();
  } finally {
    run.close();
  }
}

class Collection {
  readonly #options: CollectOptions;
  readonly #remover: Remover | undefined;
  readonly #gone: Gone[] = [];
  /** The removed histories; a dry run treats their blobs as unreferenced. */
  readonly #goneProcs = new Set<string>();
  #records = 0;
  #blobs = 0;
  #bytes = 0;

  constructor(options: CollectOptions) {
    this.#options = options;
    const { path, db, journal, dryRun } = options;
    this.#remover = dryRun ? undefined : new Remover(path, db, journal);
  }

  async run(): Promise<CollectReport> {
    const { db, pace, retention, now, lock } = this.#options;
    await lock.alone(async () => this.#remover?.finish(pace));
    const forks = this.#forks();
    const ended = await this.#ended();
    const old = withoutPrefixes(tooOld(ended, retention.cleanupPeriodDays, now), forks);
    for (const each of old) await this.#remove(each, "age");
    await this.#makeRoom(ended, forks);
    await this.#sweep();
    const usage = await measureUsage(db, retention.maxBytes, pace);
    return {
      processes: this.#gone,
      records: this.#records,
      blobs: this.#blobs,
      bytes: this.#bytes,
      usage,
    };
  }

  close(): void {
    this.#remover?.close();
  }

  /** The ended processes by their last record, oldest first, read in pages. */
  async #ended(): Promise<EndedHistory[]> {
    const { db, pace, isHeld } = this.#options;
    const text = `SELECT proc, pid, last_seq, last_hash, last_lsn, last_at FROM processes
      WHERE last_lsn > ? AND exit_code IS NOT NULL AND is_kept = 0 AND proc <> '${KERNEL_UUID}' ORDER BY last_lsn LIMIT 256`;
    const found: EndedHistory[] = [];
    for (let after = 0; ; ) {
      const rows = db.sql(text).all(after);
      if (rows.length === 0) return found;
      for (const row of rows) {
        const ended = toEnded(row);
        after = ended.lastLsn;
        if (!isHeld(asPid(ended.pid))) found.push(ended);
      }
      await pace.next();
    }
  }

  #forks(): Fork[] {
    const text = "SELECT proc, forked_from FROM processes WHERE forked_from IS NOT NULL";
    return this.#options.db
      .sql(text)
      .all()
      .map((row) => ({ proc: String(row.proc), from: String(row.forked_from) }));
  }

  async #makeRoom(ended: readonly EndedHistory[], forks: readonly Fork[]): Promise<void> {
    const { db, pace, retention } = this.#options;
    const usage = await measureUsage(db, retention.maxBytes, pace);
    const freed = this.#remover === undefined ? this.#bytes : 0;
    let over = usage.databaseBytes + usage.blobBytes - freed - retention.maxBytes * FULL_SHARE;
    const left = ended.filter(({ proc }) => !this.#goneProcs.has(proc));
    // as if all were removed: a history that is the base of a remaining fork is not a candidate
    const alive = forks.filter(({ proc }) => !this.#goneProcs.has(proc));
    for (const each of withoutPrefixes(left, alive)) {
      if (over <= 0) return;
      over -= await this.#remove(each, "space");
    }
  }

  /** Removes one history; returns the bytes that this frees. */
  async #remove(ended: EndedHistory, reason: Gone["reason"]): Promise<number> {
    const { lock, pace, isHeld } = this.#options;
    pace.throwIfAborted();
    const bytes = await this.#sizeOf(ended);
    const remover = this.#remover;
    const went =
      remover === undefined ||
      (await lock.alone(async () => !isHeld(asPid(ended.pid)) && (await remover.remove(ended, pace))));
    if (!went) return 0;
    this.#goneProcs.add(ended.proc);
    this.#gone.push({ pid: asPid(ended.pid), proc: asProcUuid(ended.proc), reason });
    this.#records += ended.lastSeq;
    this.#bytes += bytes.records;
    return bytes.records + bytes.blobs;
  }

  /** The size of the history's records and of their blobs, in bytes. */
  async #sizeOf({ proc }: EndedHistory): Promise<{ records: number; blobs: number }> {
    const { db, pace } = this.#options;
    const bytes = { records: 0, blobs: 0 };
    for (let seq = 1; ; ) {
      const page = db.bySeq(proc, seq);
      const last = page.at(-1);
      if (last === undefined) return bytes;
      for (const { body } of page) {
        bytes.records += body.length + RECORD_BYTES;
        bytes.blobs += blobBytes(body);
      }
      seq = last.seq + 1;
      await pace.next();
    }
  }

  async #sweep(): Promise<void> {
    const { db, pace, now } = this.#options;
    for await (const { blobs, stray } of blobFiles(db.dir, pace)) {
      const unnamed = blobs.filter(({ digest }) => !this.#isStillNamed(digest));
      for (const { path, bytes, modifiedAt } of [...unnamed, ...stray]) {
        if (now - modifiedAt < BLOB_GRACE_MS) continue;
        if (this.#remover !== undefined) await rm(path, { force: true });
        this.#blobs++;
        this.#bytes += bytes;
      }
    }
  }

  #isStillNamed(digest: string): boolean {
    const { db } = this.#options;
    if (this.#remover !== undefined) return isNamed(db, digest);
    const rows = db.sql("SELECT DISTINCT proc FROM blob_refs WHERE digest = ?").all(digest);
    return rows.some(({ proc }) => !this.#goneProcs.has(String(proc)));
  }
}

/** The total size of the body's blobs, according to their markers. */
function blobBytes(body: string): number {
  if (!body.includes('{"$blob":"')) return 0;
  return [...body.matchAll(/\{"\$blob":"[0-9a-f]{64}","length":(\d+)/g)].reduce(
    (sum, [, n]) => sum + Number(n),
    0,
  );
}

function toEnded(row: Record<string, unknown>): EndedHistory {
  return {
    proc: String(row.proc),
    pid: Number(row.pid),
    lastSeq: Number(row.last_seq),
    lastHash: row.last_hash as Uint8Array,
    lastLsn: Number(row.last_lsn),
    lastAt: Number(row.last_at),
  };
}
