/**
 * Removes one history, in small transactions on its own connection; the journal's writer notices the change and reloads
 * its caches. First the process row is deleted and a note of the removal is written, so that the process can no longer
 * be found. Then the tombstone is written. Then the records are deleted, newest first, so that the rest is at any
 * moment a history up to some record. The next start completes an interrupted removal.
 */
import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { Fault } from "../../abi/errors.ts";
import { PID_KERNEL } from "../../abi/ids.ts";
import { type Journal, KERNEL_UUID } from "../../kernel/ports/journal.ts";
import { namesIn } from "../journal/body.ts";
import { indexedWith } from "../sqlite/schema.ts";
import type { EndedHistory } from "./collect-choice.ts";
import { PAGE_ROWS, type ToolsDatabase } from "./database.ts";
import type { Pace } from "./pace.ts";
import type { Tombstone } from "./verify-removed.ts";

/** The key of the note in `meta`. */
const NOTE = "collecting";
/** How long a transaction here waits for the writer's, which are short. */
const LOCK_WAIT_MS = 10_000;

/** The tombstone of an unfinished removal: the process's row is deleted, but not yet all of its records. */
export function underRemoval(db: ToolsDatabase): Tombstone | undefined {
  const note = db.meta(NOTE);
  return typeof note === "string" && note !== "" ? (JSON.parse(note) as Tombstone) : undefined;
}

export class Remover {
  readonly #read: ToolsDatabase;
  readonly #journal: Pick<Journal, "append" | "epoch">;
  readonly #db: DatabaseSync;

  constructor(path: string, read: ToolsDatabase, journal: Pick<Journal, "append" | "epoch">) {
    if (!existsSync(path)) throw new Fault({ code: "UNAVAILABLE", message: `${path} is gone` });
    this.#read = read;
    this.#journal = journal;
    this.#db = new DatabaseSync(path, { timeout: LOCK_WAIT_MS });
    // not synced: records that come back after a power cut are removed again
    this.#db.exec("PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0");
  }

  /** False: the process changed meanwhile (resumed, new records, or marked to keep), and its history stays. */
  async remove(ended: EndedHistory, pace: Pace): Promise<boolean> {
    const first = this.#read.bySeq(ended.proc, 1, 1)[0];
    const { proc, pid, lastSeq: seq, lastHash, lastLsn: last } = ended;
    const hash = Buffer.from(lastHash).toString("hex");
    const stone: Tombstone = { proc, pid, seq, hash, first: first?.lsn ?? last, last };
    if (!this.#takeRow(stone)) return false;
    await this.#bury(stone, pace);
    return true;
  }

  /** Completes the removal that an earlier daemon left unfinished. */
  async finish(pace: Pace): Promise<void> {
    const stone = underRemoval(this.#read);
    if (stone === undefined) return;
    this.#transaction(() => this.#dropRow(stone.proc));
    await this.#bury(stone, pace);
  }

  close(): void {
    this.#db.close();
  }

  #takeRow(stone: Tombstone): boolean {
    return this.#transaction(() => {
      const row = this.#db
        .prepare("SELECT last_seq, exit_code, is_kept FROM processes WHERE proc = ?")
        .get(stone.proc);
      if (row?.last_seq !== stone.seq || row.exit_code === null || row.is_kept !== 0) return false;
      this.#dropRow(stone.proc);
      this.#note(JSON.stringify(stone));
      return true;
    });
  }

  #dropRow(proc: string): void {
    for (const table of ["processes", "snapshots", "open_calls", "mail", "members"])
      this.#db.prepare(`DELETE FROM ${table} WHERE proc = ?`).run(proc);
  }

  async #bury(stone: Tombstone, pace: Pace): Promise<void> {
    if (!this.#hasStone(stone.proc))
      await this.#journal.append([
        { proc: KERNEL_UUID, pid: PID_KERNEL, kind: "journal.tombstone", v: 1, body: stone },
      ]);
    for (let from = stone.seq; from > 0; ) {
      from = Math.max(0, from - PAGE_ROWS);
      this.#transaction(() => this.#dropRecords(stone.proc, from));
      // a removal is not interrupted: the caller's signal is checked between two processes
      await pace.rest();
    }
    this.#transaction(() => this.#note(""));
  }

  #dropRecords(proc: string, afterSeq: number): void {
    const unname = this.#db.prepare("DELETE FROM blob_refs WHERE digest = ? AND proc = ? AND seq = ?");
    const bodies = this.#db.prepare("SELECT seq, body FROM records WHERE proc = ? AND seq > ?");
    for (const { seq, body } of bodies.iterate(proc, afterSeq))
      for (const digest of namesIn(String(body))) unname.run(digest, proc, seq as number);
    this.#db.prepare("DELETE FROM records WHERE proc = ? AND seq > ?").run(proc, afterSeq);
  }

  #hasStone(proc: string): boolean {
    const text = `SELECT 1 FROM records WHERE proc = ? AND kind = 'journal.tombstone' AND ${indexedWith("journal.tombstone")}
      AND json_extract(body, '$.proc') = ? LIMIT 1`;
    return this.#db.prepare(text).get(KERNEL_UUID, proc) !== undefined;
  }

  #note(text: string): void {
    this.#db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)").run(NOTE, text);
  }

  /** Runs `act` in a transaction that checks the epoch, so that a former daemon that wakes late removes nothing. */
  #transaction<T>(act: () => T): T {
    this.#db.exec("BEGIN IMMEDIATE");
    try {
      const epoch = this.#db.prepare("SELECT value FROM meta WHERE key = 'epoch'").get()?.value;
      if (epoch !== this.#journal.epoch)
        throw new Fault({ code: "UNAVAILABLE", message: "a later daemon owns this journal" });
      const result = act();
      this.#db.exec("COMMIT");
      return result;
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec("ROLLBACK");
      throw error;
    }
  }
}
