/** The journal's tools on a state directory: beside a daemon that writes, or when no process has the journal open. */
import { join } from "node:path";
import { Fault } from "../../abi/errors.ts";
import type { Pid, ProcUuid } from "../../abi/ids.ts";
import type { Journal } from "../../kernel/ports/journal.ts";
import type {
  Anchor,
  CheckReport,
  CollectReport,
  JournalTools,
  LinePage,
  Retention,
  Usage,
  VerifyReport,
} from "../../kernel/ports/journal-tools.ts";
import { headOf } from "../journal/head.ts";
import { checkJournal } from "./check.ts";
import { collectGarbage } from "./collect.ts";
import { ToolsDatabase } from "./database.ts";
import { findHistory, HistoryLines } from "./lines.ts";
import { WalkLock } from "./lock.ts";
import { Pace, type PaceClock } from "./pace.ts";
import { measureUsage } from "./usage.ts";
import { verifyRecords } from "./verify.ts";
import { readAnchors } from "./verify-anchors.ts";

/** Shares of the thread's time: when a caller waits for the answer, and in the background. */
const ASKED_SHARE = 0.5;
const BACKGROUND_SHARE = 0.1;

interface ToolsOptions {
  readonly clock: PaceClock;
  /** The open journal of this daemon; absent: no process has it open, and nothing is removed. */
  readonly journal?: Journal;
  /** Whether a process is in memory or being loaded; then its history stays. */
  readonly isHeld?: (pid: Pid) => boolean;
  /** The size limit that `usage` reports. */
  readonly maxBytes: () => number;
}

export function openTools(dir: string, options: ToolsOptions): StoreTools {
  return new StoreTools(dir, options);
}

export class StoreTools implements JournalTools {
  /** The lock for other walks through the records. */
  readonly lock = new WalkLock();
  readonly path: string;
  readonly #dir: string;
  readonly #options: ToolsOptions;

  constructor(dir: string, options: ToolsOptions) {
    this.#dir = dir;
    this.path = join(dir, "journal.db");
    this.#options = options;
  }

  async check(options: Parameters<JournalTools["check"]>[0]): Promise<CheckReport> {
    const { full, only = [], signal, progress = () => {} } = options;
    const pace = this.#pace(signal);
    await this.#synced();
    const began = this.#options.clock.mono();
    const { broken, losses, ...report } = await this.lock.shared(() =>
      checkJournal(this.#dir, { full, only, isAlone: this.#isAlone, pace, progress }),
    );
    return { ...report, elapsedMs: Math.round(this.#options.clock.mono() - began) };
  }

  async verify(options: Parameters<JournalTools["verify"]>[0]): Promise<VerifyReport> {
    const { against = [], signal, progress = () => {} } = options;
    const began = this.#options.clock.mono();
    await this.#synced();
    const headLsn = headOf(this.#dir)?.lsn ?? 0;
    const walk = { against, pace: this.#pace(signal), progress, headLsn };
    const report = await this.lock.shared(() => this.#read((db) => verifyRecords(db, walk)));
    return { ...report, elapsedMs: Math.round(this.#options.clock.mono() - began) };
  }

  usage(): Promise<Usage> {
    return this.#read((db) => measureUsage(db, this.#options.maxBytes(), this.#pace(undefined)));
  }

  async collect(options: {
    retention: Retention;
    now: number;
    dryRun: boolean;
    /** True if no caller waits for the result. */
    isBackground?: boolean;
    signal?: AbortSignal;
  }): Promise<CollectReport> {
    const { journal, clock, isHeld = () => false } = this.#options;
    if (journal === undefined)
      throw new Fault({ code: "UNAVAILABLE", message: "histories are removed by the daemon alone" });
    const { retention, now, dryRun, isBackground = false, signal } = options;
    if (!dryRun) checkTaking(journal);
    const pace = new Pace(clock, isBackground ? BACKGROUND_SHARE : ASKED_SHARE, signal);
    const { path, lock } = this;
    return this.#read((db) =>
      collectGarbage({ path, lock, db, journal, pace, retention, now, dryRun, isHeld }),
    );
  }

  async *anchors(): AsyncGenerator<readonly Anchor[]> {
    await this.#synced();
    const db = new ToolsDatabase(this.path);
    try {
      yield* readAnchors(db, this.#pace(undefined));
    } finally {
      db.close();
    }
  }

  async find(process: string): Promise<ProcUuid> {
    await this.#synced();
    return this.#read(async (db) => findHistory(db, process));
  }

  seqFromEnd(proc: ProcUuid, count: number, kind?: string): Promise<number> {
    const pace = this.#pace(undefined);
    return this.#read((db) => new HistoryLines(db, proc, kind).seqFromEnd(count, pace));
  }

  async lines(proc: ProcUuid, fromSeq: number, kind?: string): Promise<LinePage> {
    const { journal } = this.#options;
    if (journal === undefined) throw new Fault({ code: "UNAVAILABLE", message: "the journal is not open" });
    await this.#synced();
    const blobOf = (digest: string) => journal.getBlob(digest);
    return this.#read((db) => new HistoryLines(db, proc, kind).page(fromSeq, blobOf));
  }

  async hasEnded(proc: ProcUuid): Promise<boolean> {
    return this.#read(async (db) => {
      const row = db.sql("SELECT exit_code FROM processes WHERE proc = ?").get(proc);
      return row === undefined || row.exit_code !== null;
    });
  }

  get #isAlone(): boolean {
    return this.#options.journal === undefined;
  }

  /** Syncs, so that the tools see noted records. A disk that refuses writes does not prevent reads. */
  async #synced(): Promise<void> {
    await this.#options.journal?.sync().catch(() => {});
  }

  #pace(signal: AbortSignal | undefined): Pace {
    return new Pace(this.#options.clock, this.#isAlone ? 1 : ASKED_SHARE, signal);
  }

  /** Opens a connection for one query, so that none is open between queries. */
  async #read<T>(ask: (db: ToolsDatabase) => Promise<T>): Promise<T> {
    const db = new ToolsDatabase(this.path);
    try {
      return await ask(db);
    } finally {
      db.close();
    }
  }
}

/** Each removal must be recorded, so a journal that accepts no records loses no history. */
function checkTaking({ state }: Journal): void {
  if (state.state === "well") return;
  const why =
    state.state === "lost" ? state.message : `${state.reason}: the journal at ${state.path} takes nothing`;
  throw new Fault({ code: "UNAVAILABLE", message: `${why}; nothing was removed` });
}
