/**
 * Verifies every hash of every history, in lsn order, and each anchor: whether the journal is still what was written.
 */

import { messageOf } from "../../abi/errors.ts";
import { asPid, asProcUuid } from "../../abi/ids.ts";
import { KERNEL_UUID } from "../../kernel/ports/journal.ts";
import type { Anchor, Finding, VerifyReport } from "../../kernel/ports/journal-tools.ts";
import type { HashedRecord, ToolsDatabase } from "./database.ts";
import type { Pace } from "./pace.ts";
import { AnchorCheck, readAnchors } from "./verify-anchors.ts";
import { Chains, type Misfit } from "./verify-chain.ts";
import { MissingRecords } from "./verify-missing.ts";
import { readRemoved } from "./verify-removed.ts";
import { shortRow } from "./verify-rows.ts";

interface VerifyOptions {
  readonly against: readonly Anchor[];
  readonly pace: Pace;
  readonly progress: (records: number) => void;
  /** The acknowledged lsn, according to the head file; 0: unknown. */
  readonly headLsn: number;
}

export async function verifyRecords(
  db: ToolsDatabase,
  options: VerifyOptions,
): Promise<Omit<VerifyReport, "elapsedMs">> {
  const lastLsn = db.lastLsn();
  const removed = await readRemoved(db, options.pace);
  const own: Anchor[] = [];
  for await (const page of readAnchors(db, options.pace))
    own.push(...page.filter(({ lsn }) => lsn <= lastLsn));
  const anchors = new AnchorCheck(own, options.against, removed);
  const walk = new Walk(db, anchors, new MissingRecords(removed), lastLsn);
  const broken = await walk.run(options);
  return {
    records: walk.records,
    processes: walk.processes,
    anchors: anchors.count,
    lastAnchor: anchors.last,
    uncheckedAnchors: anchors.unchecked,
    broken,
  };
}

class Walk {
  records = 0;
  readonly #db: ToolsDatabase;
  readonly #chains: Chains;
  readonly #anchors: AnchorCheck;
  readonly #missing: MissingRecords;
  readonly #lastLsn: number;
  #lsn = 0;
  /** The first missing lsn without explanation; its process may become known later. */
  #gapLsn: number | undefined;

  constructor(db: ToolsDatabase, anchors: AnchorCheck, missing: MissingRecords, lastLsn: number) {
    this.#db = db;
    this.#chains = new Chains(db);
    this.#anchors = anchors;
    this.#missing = missing;
    this.#lastLsn = lastLsn;
  }

  get processes(): number {
    return this.#chains.tails.size - Number(this.#chains.tails.has(KERNEL_UUID));
  }

  async run({ pace, progress, headLsn }: VerifyOptions): Promise<Finding | null> {
    const found = (await this.#records(pace, progress)) ?? this.#wrongRoot();
    if (this.#gapLsn !== undefined) return this.#missingBefore(this.#gapLsn, found, pace);
    if (found !== undefined) return found;
    return (
      (await shortRow(this.#db, pace)) ?? this.#anchors.end(this.#lastLsn) ?? this.#beyond(headLsn) ?? null
    );
  }

  async #records(pace: Pace, progress: (records: number) => void): Promise<Finding | undefined> {
    while (this.#lsn < this.#lastLsn) {
      const page = this.#page();
      if ("code" in page) return page;
      for (const record of page) {
        const broken = this.#take(record);
        if (broken !== undefined) return broken;
      }
      progress(this.records);
      await pace.next();
    }
    return undefined;
  }

  #page(): readonly HashedRecord[] | Finding {
    try {
      const page = this.#db.byLsn(this.#lsn, this.#lastLsn);
      if (page.length > 0) return page;
      return { code: "database", severity: "damage", lsn: this.#lsn + 1, detail: "cannot be read" };
    } catch (error) {
      const detail = `cannot be read: ${messageOf(error)}`;
      return { code: "database", severity: "damage", lsn: this.#lsn + 1, detail };
    }
  }

  #take(record: HashedRecord): Finding | undefined {
    const { lsn } = record;
    if (lsn <= this.#lsn)
      return {
        code: "database",
        severity: "damage",
        lsn,
        detail: "records are not in the order of their lsn",
      };
    if (lsn > this.#lsn + 1) this.#gapLsn ??= this.#missing.unexplained(this.#lsn + 1, lsn - 1);
    // behind a gap every root is wrong, so roots are no longer checked
    const wrongRoot = this.#gapLsn === undefined ? this.#anchors.upTo(lsn, this.#chains.tails) : undefined;
    if (wrongRoot !== undefined) return wrongRoot;
    const misfit = this.#chains.take(record);
    if (misfit !== undefined) return this.#misfit(record, misfit);
    this.#lsn = lsn;
    this.records++;
    return undefined;
  }

  #misfit(record: HashedRecord, { code, seq, afterLsn, detail }: Misfit): Finding {
    const missingHere = code === "gap" && this.#gapLsn !== undefined && this.#gapLsn > afterLsn;
    const lsn = missingHere ? (this.#gapLsn as number) : record.lsn;
    return { code, severity: "damage", lsn, seq, ...whoseRecord(record), detail };
  }

  #wrongRoot(): Finding | undefined {
    if (this.#gapLsn !== undefined) return undefined;
    return this.#anchors.upTo(this.#lastLsn + 1, this.#chains.tails);
  }

  #beyond(headLsn: number): Finding | undefined {
    if (headLsn <= this.#lastLsn) return undefined;
    const lsn = this.#lastLsn + 1;
    const detail = `acknowledged records are missing: lsn ${lsn} to ${headLsn}`;
    return { code: "missing_acknowledged", severity: "damage", lsn, detail };
  }

  /** The finding for a missing record, which precedes `found`. Its process may be known from a row. */
  async #missingBefore(lsn: number, found: Finding | undefined, pace: Pace): Promise<Finding> {
    if (found?.lsn === lsn) return found;
    const row = await shortRow(this.#db, pace);
    if (row !== undefined) return { ...row, lsn };
    return {
      code: "gap",
      severity: "damage",
      lsn,
      detail: "missing, and no record says that it was removed",
    };
  }
}

function whoseRecord({ proc, pid }: { proc: string; pid: number }): Pick<Finding, "proc" | "pid"> {
  return { proc: asProcUuid(proc), pid: asPid(pid) };
}
