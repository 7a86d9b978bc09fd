/**
 * The journal of a directory that cannot be written when the daemon starts: read-only, full, or owned by another user.
 * It answers reads and refuses writes; nothing on the disk changes, not even the epoch. It checks as often as a
 * degraded journal retries whether the disk accepts writes again; then `over` resolves, and the next daemon opens it
 * for writing.
 */
import { accessSync, constants, existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { Fault } from "../../abi/errors.ts";
import type { Journal } from "../../kernel/ports/journal.ts";
import { systemClock } from "../../lib/time/system-clock.ts";
import { isUnwritable, JournalFault, toJournalFault } from "../fault.ts";
import { GroupJournal } from "../journal/group.ts";
import type { Batch, BatchVerdict, CommitMode } from "../journal/ledger.ts";
import { RESERVE_BYTES, spaceOf } from "../journal/room.ts";
import type { Scribe } from "../journal/scribe.ts";
import { SqliteLedger } from "./ledger.ts";
import { databasePath, openReading } from "./open-database.ts";
import { highestOf, type JournalOptions, openJournal, tellMissing } from "./open-journal.ts";
import { SqliteReader } from "./reader.ts";
import { identityOf } from "./schema.ts";

/** The space a degraded journal needs to resume: the reserve, and as much again to work with. */
const NEED_BYTES = 2 * RESERVE_BYTES;

interface OpenedJournal {
  readonly journal: Journal;
  /** Present if the journal cannot be written; resolves when it can. */
  readonly over?: Promise<void>;
}

/**
 * Opens the journal for writing or, if that is not possible, for reading. `refusal`: why writing is already known to be
 * impossible. Errors: as openJournal.
 */
export async function openAsItIs(options: JournalOptions, refusal?: JournalFault): Promise<OpenedJournal> {
  if (refusal !== undefined) return openToRead(options, refusal);
  try {
    return { journal: await openJournal(options) };
  } catch (error) {
    if (isUnwritable(error) && existsSync(databasePath(options.dir))) return openToRead(options, error);
    throw error;
  }
}

function openToRead(options: JournalOptions, refusal: JournalFault): Required<OpenedJournal> {
  const { dir, clock = systemClock, onNotice = () => {} } = options;
  const path = databasePath(dir);
  let db: DatabaseSync | undefined;
  try {
    db = openReading(path);
    const acknowledgedLsn = Number.POSITIVE_INFINITY;
    const identity = { ...identityOf(db), highest: highestOf(db), acknowledgedLsn };
    tellMissing(db, dir, onNotice);
    const scribe = new RefusingScribe(dir, withRoom(refusal, dir));
    const reader = new SqliteReader(db, identity.kernelId);
    const ledger = new SqliteLedger(dir, identity, { reader, scribe });
    return { journal: new GroupJournal(ledger, clock, onNotice), over: scribe.over };
  } catch (error) {
    db?.close();
    throw error instanceof Fault ? error : toJournalFault(error, path);
  }
}

class RefusingScribe implements Scribe {
  readonly over: Promise<void>;
  readonly #dir: string;
  readonly #fault: JournalFault;
  readonly #tellOver: () => void;

  constructor(dir: string, fault: JournalFault) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.over = promise;
    this.#tellOver = resolve;
    this.#dir = dir;
    this.#fault = fault;
  }

  async commit(_batches: readonly Batch[], mode: CommitMode): Promise<readonly BatchVerdict[]> {
    if (mode === "retry" && takesWrites(this.#dir, this.#fault)) this.#tellOver();
    throw this.#fault;
  }

  async saveSnapshot(): Promise<void> {
    throw this.#fault;
  }

  async markDamaged(): Promise<void> {
    throw this.#fault;
  }

  /** Calls the listener at once: this scribe refuses from the start. */
  onLost(listener: (fault: JournalFault) => void): void {
    listener(this.#fault);
  }

  async close(): Promise<void> {}
}

/** Tests whether the disk accepts writes with a probe file of one byte, which it removes. */
function takesWrites(dir: string, { reason }: JournalFault): boolean {
  if (reason === "journal_full" && (spaceOf(dir)?.freeBytes ?? NEED_BYTES) < NEED_BYTES) return false;
  const probe = join(dir, "probe");
  try {
    accessSync(databasePath(dir), constants.R_OK | constants.W_OK);
    writeFileSync(probe, "x", { mode: 0o600 });
    rmSync(probe);
    return true;
  } catch {
    return false;
  }
}

function withRoom({ reason, what, cause }: JournalFault, dir: string): JournalFault {
  const freeBytes = spaceOf(dir)?.freeBytes ?? null;
  return new JournalFault(reason, what, { cause, room: { freeBytes, needBytes: NEED_BYTES } });
}
