/**
 * Repairs damage as far as possible: a broken history is cut after its last good record, the derived tables are
 * rebuilt, bad snapshots are dropped, losses are recorded. Everything changed is first copied to `quarantine/<date>/`;
 * nothing is invented. The caller holds the lease.
 */
import { hash } from "node:crypto";
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, writeSync } from "node:fs";
import { basename, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { asPid, PID_KERNEL } from "../../abi/ids.ts";
import { type JournalDraft, KERNEL_UUID } from "../../kernel/ports/journal.ts";
import { namesIn } from "../journal/body.ts";
import { Derived } from "../sqlite/derived.ts";
import { openJournal } from "../sqlite/open-journal.ts";
import { addLaterColumn } from "../sqlite/schema.ts";
import type { CheckResult } from "./check.ts";
import { blobFiles, digestOf } from "./check-blobs.ts";
import { DERIVED_TABLES, factOfRecord } from "./check-derived.ts";
import type { BrokenHistory } from "./check-histories.ts";
import { underRemoval } from "./collect-removal.ts";
import { type HashedRecord, ToolsDatabase } from "./database.ts";
import type { Pace } from "./pace.ts";
import type { Cut } from "./verify-removed.ts";

interface RepairReport {
  /** The directory with the copies of what was changed. */
  readonly quarantine: string;
  /** The changes made, one line each, for the user. */
  readonly done: readonly string[];
}

type Kept = { readonly name: string; readonly lines: readonly string[] };

export async function repairJournal(
  dir: string,
  result: CheckResult,
  { now, pace }: { now: Date; pace: Pace },
): Promise<RepairReport> {
  const quarantine = join(dir, "quarantine", now.toISOString().replaceAll(":", "-"));
  mkdirSync(quarantine, { recursive: true, mode: 0o700 });
  return { quarantine, done: await new Repair(dir, quarantine, pace).run(result) };
}

class Repair {
  readonly #dir: string;
  readonly #path: string;
  readonly #quarantine: string;
  readonly #pace: Pace;

  constructor(dir: string, quarantine: string, pace: Pace) {
    this.#dir = dir;
    this.#path = join(dir, "journal.db");
    this.#quarantine = quarantine;
    this.#pace = pace;
  }

  async run(result: CheckResult): Promise<string[]> {
    const cuts = await this.#findCuts(result.broken);
    const done = cuts.map(
      ({ pid, seq, records }) => `pid ${pid}: ${records} records from record ${seq} on were cut`,
    );
    const losses = lossesOf(result);
    for (const { records, first, last } of losses)
      done.push(`${records} records of lsn ${first} to ${last} are missing: written down`);
    // before anything changes, so that an interrupted repair is repeated rather than forgotten
    await this.#writeDown([...cuts, ...losses]);
    done.push(...(await this.#remake(cuts)));
    if (result.findings.some(({ code }) => code === "bad_blob")) done.push(...(await this.#setAsideBlobs()));
    return done;
  }

  /**
   * The part of each broken history to cut, copied to quarantine record by record. The kernel's history is not cut,
   * because it contains roots and tombstones.
   */
  async #findCuts(broken: readonly BrokenHistory[]): Promise<Cut[]> {
    const after = new Map(broken.filter(({ pid }) => pid !== PID_KERNEL).map((each) => [each.proc, each]));
    if (after.size === 0) return [];
    const cuts = new Map<string, Cut>();
    const db = new ToolsDatabase(this.#path);
    const file = openSync(join(this.#quarantine, "records.ndjson"), "wx", 0o600);
    try {
      // by lsn, because an index may be damaged too
      for (let [lsn, last] = [0, db.lastLsn()]; lsn < last; await this.#pace.next()) {
        const page = db.byLsn(lsn, last);
        if (page.length === 0) break;
        for (const record of page) {
          lsn = record.lsn;
          const end = after.get(record.proc);
          if (end === undefined || (record.seq <= end.after && !cuts.has(record.proc))) continue;
          writeSync(
            file,
            `${JSON.stringify({ ...record, hash: Buffer.from(record.hash).toString("hex") })}\n`,
          );
          cuts.set(
            record.proc,
            withLast(cuts.get(record.proc) ?? firstCut(end, record), record, isForked(db, record)),
          );
        }
      }
      fsyncSync(file);
    } finally {
      closeSync(file);
      db.close();
    }
    return [...cuts.values()];
  }

  async #writeDown(cuts: readonly Cut[]): Promise<void> {
    const drafts = (cuts.length === 0 ? [{}] : cuts).map(
      (cut): JournalDraft => ({
        ...{ proc: KERNEL_UUID, pid: asPid(PID_KERNEL), kind: "journal.repair", v: 1 },
        body: { ...cut, quarantine: basename(this.#quarantine) },
      }),
    );
    const journal = await openJournal({ dir: this.#dir });
    try {
      await journal.append(drafts);
    } finally {
      await journal.close();
    }
  }

  /** In one transaction: deletes the cut records, and rebuilds indexes and derived tables from the rest. */
  async #remake(cuts: readonly Cut[]): Promise<string[]> {
    const read = new ToolsDatabase(this.#path);
    const db = new DatabaseSync(this.#path, { timeout: 1_000 });
    try {
      const kept = DERIVED_TABLES.map(
        (name): Kept => ({ name, lines: linesOf(db, `SELECT * FROM ${name}`) }),
      );
      const bad = badSnapshots(db, cuts);
      for (const { name, lines } of [...kept, { name: "snapshots", lines: bad.lines }])
        keep(join(this.#quarantine, `${name}.ndjson`), lines);
      db.exec("BEGIN IMMEDIATE");
      const indexes = db
        .prepare(
          "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'records' AND sql IS NOT NULL",
        )
        .all();
      for (const { name } of indexes) db.exec(`DROP INDEX "${String(name)}"`);
      for (const { proc, first } of cuts)
        db.prepare("DELETE FROM records WHERE proc = ? AND lsn >= ?").run(proc, first);
      for (const { sql } of indexes) db.exec(String(sql));
      for (const id of bad.rows) db.prepare("DELETE FROM snapshots WHERE rowid = ?").run(id);
      for (const name of DERIVED_TABLES) db.exec(`DELETE FROM ${name}`);
      addLaterColumn(db);
      await this.#deriveAgain(db, read);
      db.exec("COMMIT");
      return ["indexes and derived tables were made again", ...bad.rows.map(() => "a snapshot was dropped")];
    } finally {
      if (db.isTransaction) db.exec("ROLLBACK");
      db.close();
      read.close();
    }
  }

  /** A history that is being removed gets no row: its exit record may already be deleted, so it would look alive. */
  async #deriveAgain(db: DatabaseSync, read: ToolsDatabase): Promise<void> {
    const derived = new Derived(db, read.kernelId);
    const removed = underRemoval(read)?.proc;
    const next = db.prepare("SELECT * FROM records WHERE lsn > ? ORDER BY lsn LIMIT 256");
    for (let lsn = 0, page = next.all(0); page.length > 0; page = next.all(lsn)) {
      for (const row of page) {
        const record = { ...(row as unknown as Parameters<typeof factOfRecord>[1]) };
        lsn = record.lsn;
        if (record.proc === removed) continue;
        derived.take(record, await factOfRecord(read, record), namesIn(record.body));
      }
      derived.flush();
      await this.#pace.next();
    }
  }

  async #setAsideBlobs(): Promise<string[]> {
    const done: string[] = [];
    for await (const { blobs } of blobFiles(this.#dir, this.#pace)) {
      for (const { digest, path } of blobs) {
        if ((await digestOf(path)) === digest) continue;
        renameSync(path, join(this.#quarantine, digest));
        done.push(`blob ${digest} was set aside`);
      }
    }
    return done;
  }
}

function firstCut({ proc, pid, after }: BrokenHistory, { lsn }: HashedRecord): Cut {
  return { proc, pid, seq: after + 1, records: 0, first: lsn, last: lsn };
}

/** `isBase`: a fork is based on this record. */
function withLast(cut: Cut, { lsn, seq, hash: own }: HashedRecord, isBase: boolean): Cut {
  const bases = isBase ? { bases: { ...cut.bases, [seq]: Buffer.from(own).toString("hex") } } : {};
  return { ...cut, records: cut.records + 1, last: lsn, ...bases };
}

function isForked(db: ToolsDatabase, { proc, seq }: HashedRecord): boolean {
  const text = "SELECT 1 FROM processes WHERE forked_from = ? AND forked_at = ? LIMIT 1";
  return db.sql(text).get(proc, seq) !== undefined;
}

/** All losses as one cut: how many records, and their range. */
function lossesOf({ losses }: CheckResult): Cut[] {
  if (losses.length === 0) return [];
  const records = losses.reduce((sum, loss) => sum + loss.records, 0);
  const [first, last] = [
    losses.reduce((least, loss) => Math.min(least, loss.first), Number.POSITIVE_INFINITY),
    losses.reduce((most, loss) => Math.max(most, loss.last), 0),
  ];
  return [{ proc: KERNEL_UUID, pid: PID_KERNEL, seq: 0, records, first, last }];
}

/** Snapshots that do not match their digest, and snapshots of cut records. */
function badSnapshots(db: DatabaseSync, cuts: readonly Cut[]): { rows: number[]; lines: string[] } {
  const [rows, lines]: [number[], string[]] = [[], []];
  const ends = new Map(cuts.map(({ proc, seq }) => [proc, seq]));
  for (const row of db.prepare("SELECT rowid, proc, seq, state, digest FROM snapshots").iterate()) {
    const isCut = Number(row.seq) >= (ends.get(String(row.proc)) ?? Number.POSITIVE_INFINITY);
    if (!isCut && hash("sha256", String(row.state), "hex") === row.digest) continue;
    rows.push(Number(row.rowid));
    lines.push(JSON.stringify(row));
  }
  return { rows, lines };
}

function linesOf(db: DatabaseSync, text: string): string[] {
  return db
    .prepare(text)
    .all()
    .map((row) => JSON.stringify(row, hexed));
}

function hexed(_key: string, value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value;
}

function keep(path: string, lines: readonly string[]): void {
  const file = openSync(path, "wx", 0o600);
  try {
    for (const line of lines) writeSync(file, `${line}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
