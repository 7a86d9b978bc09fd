/**
 * Anchors: after every 1,000 records, or a minute after any record, and on closing, a root hash over the last record of
 * every process is written to the kernel's history and to the file of `audit.anchor`. With a copy of the roots stored
 * elsewhere, the user can check later whether anything before the last root was changed.
 */
import { appendFile } from "node:fs/promises";
import { messageOf } from "../../abi/errors.ts";
import { PID_KERNEL } from "../../abi/ids.ts";
import type { Clock } from "../../abi/program.ts";
import { type Journal, KERNEL_UUID } from "../../kernel/ports/journal.ts";
import { AnchorTree } from "../journal/chain.ts";
import { indexedWith } from "../sqlite/schema.ts";
import { ToolsDatabase } from "./database.ts";
import type { WalkLock } from "./lock.ts";
import { Pace } from "./pace.ts";
import { anchorOf } from "./verify-anchors.ts";

/** Interval between checks for new records. */
const LOOK_MS = 1_000;
const MAX_RECORDS = 1_000;
const MAX_MS = 60_000;
/** Share of the thread's time: with many processes anchors become rarer, but the daemon does not become slower. */
const SHARE = 0.1;
/** Processes read between two pauses. */
const PORTION = 64;

const NEWEST = `SELECT at, body FROM records WHERE proc = '${KERNEL_UUID}' AND kind = 'journal.anchor'
  AND ${indexedWith("journal.anchor")} ORDER BY seq DESC LIMIT 1`;

interface AnchorOptions {
  /** Path of journal.db, which exists since the journal was opened. */
  readonly path: string;
  readonly journal: Pick<Journal, "note" | "sync">;
  readonly clock: Clock;
  /** Shared with the removal of histories. */
  readonly lock: WalkLock;
  /** The file that also receives the roots; undefined: no file. Called each time, because settings change. */
  readonly file: () => string | undefined;
  readonly log: (level: "info" | "warn" | "error", message: string) => void;
}

export class Anchors {
  readonly #options: AnchorOptions;
  readonly #stop = new AbortController();
  readonly #db: ToolsDatabase;
  #running: Promise<void> = Promise.resolve();
  /** The lsn that the last anchor covers. `#root` is its root. */
  #covered = 0;
  #root: Uint8Array | null = null;
  #anchoredAt: number;
  #problem = "";

  constructor(options: AnchorOptions) {
    this.#options = options;
    this.#db = new ToolsDatabase(options.path);
    this.#anchoredAt = options.clock.mono();
    const newest = this.#db.sql(NEWEST).get();
    const last =
      newest === undefined ? undefined : anchorOf({ at: Number(newest.at), body: String(newest.body) });
    if (last === undefined) return;
    this.#covered = last.lsn;
    this.#root = Buffer.from(last.root, "hex");
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Writes a last anchor if there are new records, then stops. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    try {
      await this.#options.journal.sync();
      if (this.#newRecords() > 0) await this.#anchor(1);
    } catch (error) {
      this.#tell(`journal: no last anchor: ${messageOf(error)}`);
    } finally {
      this.#db.close();
    }
  }

  async #run(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#stop;
    for (;;) {
      await clock.sleep(LOOK_MS, signal).catch(() => {});
      if (signal.aborted) return;
      try {
        const began = clock.mono();
        if (!this.#isDue(began)) continue;
        await this.#anchor(SHARE, signal);
      } catch (error) {
        if (!signal.aborted) this.#tell(`journal: no anchor: ${messageOf(error)}`);
      }
    }
  }

  #isDue(now: number): boolean {
    const records = this.#newRecords();
    return records >= MAX_RECORDS || (records > 0 && now - this.#anchoredAt >= MAX_MS);
  }

  /** The number of records since the last anchor, not counting the anchor's own record. */
  #newRecords(): number {
    return this.#db.lastLsn() - this.#covered - (this.#root === null ? 0 : 1);
  }

  async #anchor(share: number, signal?: AbortSignal): Promise<void> {
    const { journal, clock, lock } = this.#options;
    const { lsn, tree } = await lock.shared(() => this.#tails(new Pace(clock, share, signal)));
    const root = tree.root(this.#root);
    const previous = this.#root === null ? null : hex(this.#root);
    const body = { root: hex(root), previous, processes: tree.count, lsn };
    journal.note([{ proc: KERNEL_UUID, pid: PID_KERNEL, kind: "journal.anchor", v: 1, body }]);
    // a noted record is not dropped when the disk refuses it, so the next root builds on this one
    this.#root = root;
    this.#covered = lsn;
    this.#anchoredAt = clock.mono();
    await journal.sync();
    await this.#send({ lsn, root: body.root, previous: previous ?? "", at: clock.now() });
  }

  /** The last records of all processes in one consistent state of the journal, despite concurrent writes. */
  async #tails(pace: Pace): Promise<{ lsn: number; tree: AnchorTree }> {
    const tree = new AnchorTree();
    this.#db.db.exec("BEGIN");
    try {
      const lsn = this.#db.lastLsn();
      for (let proc = this.#db.nextProc(""); proc !== undefined; proc = this.#db.nextProc(proc)) {
        const tail = this.#db.tail(proc);
        if (tail !== undefined) tree.add({ proc, seq: tail.seq, hash: tail.hash });
        if (tree.count % PORTION === 0) await pace.next();
      }
      return { lsn, tree };
    } finally {
      this.#db.db.exec("COMMIT");
    }
  }

  async #send(anchor: { lsn: number; root: string; previous: string; at: number }): Promise<void> {
    const file = this.#options.file();
    try {
      if (file !== undefined) await appendFile(file, `${JSON.stringify(anchor)}\n`, { mode: 0o600 });
      this.#problem = "";
    } catch (error) {
      this.#tell(`settings: audit.anchor: ${messageOf(error)}; roots are kept in the journal alone`);
    }
  }

  /** Logs a problem once, until it is over. */
  #tell(problem: string): void {
    if (problem === this.#problem) return;
    this.#problem = problem;
    this.#options.log("warn", problem);
  }
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
