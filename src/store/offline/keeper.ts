/**
 * Looks after the journal while a daemon runs: writes anchors, removes old histories once a day, warns when it fills
 * up, and answers the clients' questions about the journal as a whole.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../../abi/errors.ts";
import type { Pid } from "../../abi/ids.ts";
import type { Clock } from "../../abi/program.ts";
import type { Journal } from "../../kernel/ports/journal.ts";
import type { CollectReport, JournalDesk, Retention, Usage } from "../../kernel/ports/journal-tools.ts";
import { Anchors } from "./anchor.ts";
import { openTools, type StoreTools } from "./tools.ts";

const HOUR_MS = 3600 * 1000;
const DAY_MS = 24 * HOUR_MS;
/** Delay of the first removal after the start, so that the daemon is first free for its clients. */
const FIRST_MS = 10 * 60 * 1000;
/** Two daily checks agree on the date if their wall-clock times are this far apart. */
const AGREE_MS = { least: 20 * HOUR_MS, most: 8 * DAY_MS };
const WARN_SHARE = 0.8;

export const DEFAULT_RETENTION: Retention = { cleanupPeriodDays: 30, maxBytes: 20 * 1024 ** 3 };

interface KeeperOptions {
  /** The journal's directory. */
  readonly dir: string;
  readonly journal: Journal;
  readonly clock: Clock;
  /** Called each time, because settings change. */
  readonly retention: () => Retention;
  readonly anchorFile: () => string | undefined;
  /** Whether a process is in memory or being loaded; then its history stays. */
  readonly isHeld: (pid: Pid) => boolean;
  readonly log: (level: "info" | "warn" | "error", message: string) => void;
}

export class JournalKeeper {
  readonly desk: JournalDesk;
  readonly #options: KeeperOptions;
  readonly #tools: StoreTools;
  readonly #anchors: Anchors;
  readonly #stop = new AbortController();
  #daily: Promise<void> = Promise.resolve();

  constructor(options: KeeperOptions) {
    this.#options = options;
    const { dir, journal, clock, isHeld, retention, anchorFile: file, log } = options;
    const tools = openTools(dir, { clock, journal, isHeld, maxBytes: () => retention().maxBytes });
    this.#tools = tools;
    this.#anchors = new Anchors({ path: tools.path, journal, clock, lock: tools.lock, file, log });
    this.desk = {
      check: (of) => tools.check(of),
      verify: (of) => tools.verify(of),
      usage: () => tools.usage(),
      collect: ({ dryRun, signal }) =>
        tools.collect({ retention: retention(), now: clock.now(), dryRun, ...(signal ? { signal } : {}) }),
      anchors: () => tools.anchors(),
      find: (name) => tools.find(name),
      seqFromEnd: (proc, count, kind) => tools.seqFromEnd(proc, count, kind),
      lines: (proc, fromSeq, kind) => tools.lines(proc, fromSeq, kind),
      hasEnded: (proc) => tools.hasEnded(proc),
    };
  }

  /** `clearsOut`: false if old histories must not be removed. */
  start({ clearsOut }: { clearsOut: boolean }): void {
    this.#anchors.start();
    if (clearsOut) this.#daily = this.#clearOutDaily();
  }

  /** Resolves once the last anchor is noted, so that the journal can be closed. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#daily;
    await this.#anchors.close();
  }

  async #clearOutDaily(): Promise<void> {
    const { clock, log } = this.#options;
    const { signal } = this.#stop;
    for (let waitMs = FIRST_MS; ; waitMs = DAY_MS) {
      await clock.sleep(waitMs, signal).catch(() => {});
      if (signal.aborted) return;
      try {
        await this.clearOut(signal);
      } catch (error) {
        if (!signal.aborted) log("warn", `journal: not cleared out: ${messageOf(error)}`);
      }
    }
  }

  /**
   * The daily check; does nothing if one ran less than 20 hours ago. Histories are removed by age only if two checks
   * agree on the date.
   */
  async clearOut(signal?: AbortSignal): Promise<void> {
    const { clock, retention } = this.#options;
    const path = join(this.#options.dir, "collected.json");
    const now = clock.now();
    const apart = now - (await readDate(path));
    if (apart >= 0 && apart < AGREE_MS.least) return;
    await writeFile(path, `${JSON.stringify({ at: now })}\n`, { mode: 0o600 });
    const agrees = apart >= AGREE_MS.least && apart <= AGREE_MS.most;
    const { cleanupPeriodDays, maxBytes } = retention();
    const report = await this.#tools.collect({
      retention: { cleanupPeriodDays: agrees ? cleanupPeriodDays : 0, maxBytes },
      // the beginning of time: nothing is old
      now: agrees ? now : 0,
      dryRun: false,
      isBackground: true,
      ...(signal === undefined ? {} : { signal }),
    });
    this.#tell(report);
  }

  #tell({ processes, blobs, usage }: CollectReport): void {
    const { log } = this.#options;
    if (processes.length + blobs > 0)
      log("info", `journal: ${processes.length} old histories and ${blobs} blobs removed`);
    if (isNearlyFull(usage)) log("warn", `journal: ${fullText(usage)}`);
  }
}

function isNearlyFull({ databaseBytes, blobBytes, maxBytes }: Usage): boolean {
  return databaseBytes + blobBytes >= maxBytes * WARN_SHARE;
}

function fullText({ databaseBytes, blobBytes, maxBytes }: Usage): string {
  const percent = Math.floor(((databaseBytes + blobBytes) / maxBytes) * 100);
  return `${percent} % of journal.maxBytes (${maxBytes}) are used`;
}

/** The wall-clock time of the last check, ms; NaN: no check was made, or its note cannot be read. */
async function readDate(path: string): Promise<number> {
  try {
    const { at } = JSON.parse(await readFile(path, "utf8")) as { at?: unknown };
    return typeof at === "number" ? at : Number.NaN;
  } catch {
    return Number.NaN;
  }
}
