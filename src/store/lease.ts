/**
 * One owner of a state directory: an exclusive transaction on lease.db, held for life. Below it lies an fcntl lock,
 * which the operating system frees at death, so there is no expiry to guess and no stale lock. Nothing else in this
 * process may open lease.db while it is held: closing that descriptor would drop the lock.
 */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Fault } from "../abi/errors.ts";
import { createPrivateFile, DATABASE_NAME, prepareDirectory } from "./directory.ts";
import { isUnwritable, type JournalFault, toJournalFault } from "./fault.ts";

/** owner.json: who holds the lease, for people. The lock alone decides. */
interface Owner {
  readonly pid: number;
  /** Start of the process in clock ticks since boot (Linux), which tells a reused pid; null elsewhere. */
  readonly startTime: number | null;
  /** Wall clock, ms. */
  readonly since: number;
  readonly kernelId?: string;
  readonly epoch?: number;
}

export interface Lease {
  /** Present: the directory cannot be written, and its journal only be read. */
  readonly refusal?: JournalFault;
  /** Adds what only the open journal knows. */
  describe(identity: { kernelId: string; epoch: number }): void;
  /** Frees the lock and removes owner.json. Idempotent. */
  release(): void;
}

/** null: another process holds it. Errors: UNAVAILABLE, the directory cannot be used. */
export async function takeLease(dir: string): Promise<Lease | null> {
  let db: DatabaseSync | undefined;
  try {
    prepareDirectory(dir);
    const path = join(dir, "lease.db");
    createPrivateFile(dir, path);
    db = new DatabaseSync(path);
    db.exec("BEGIN EXCLUSIVE");
    return hold(dir, db);
  } catch (error) {
    db?.close();
    if (error instanceof Fault) throw error;
    const fault = toJournalFault(error);
    if (fault.reason === "journal_locked") return null;
    throw fault;
  }
}

/**
 * The same where the directory cannot be written and so not be locked: the lock lies in `elsewhere`, for those who only read. null:
 * one of them holds it, or whoever holds the directory lives. Errors: UNAVAILABLE, there is nothing to be read either.
 */
export async function takeAnyLease(dir: string, elsewhere: string): Promise<Lease | null> {
  try {
    return await takeLease(dir);
  } catch (refusal) {
    if (!isUnwritable(refusal) || !existsSync(join(dir, DATABASE_NAME))) throw refusal;
    const owner = readOwner(dir);
    if (owner !== null && isRunning(owner)) return null;
    const lease = await takeLease(elsewhere);
    return lease === null ? null : { ...lease, refusal };
  }
}

/** A pid that was given to another process since has another start time. */
export function isRunning({ pid, startTime }: Owner): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
  return startTime === null || [startTime, null].includes(startTimeOf(pid));
}

function hold(dir: string, db: DatabaseSync): Lease {
  const owner: Owner = { pid: process.pid, startTime: startTimeOf("self"), since: Date.now() };
  writeOwner(dir, owner);
  return {
    describe: (identity) => {
      try {
        writeOwner(dir, { ...owner, ...identity });
      } catch {
        // a disk that is full by now: what there is says who holds it
      }
    },
    release: () => {
      if (!db.isOpen) return;
      // before the lock goes: afterwards it may be the next owner's
      rmSync(join(dir, "owner.json"), { force: true });
      db.close();
    },
  };
}

/** null: nobody, or the file is not readable. It outlives an owner that was killed. */
export function readOwner(dir: string): Owner | null {
  try {
    const owner: unknown = JSON.parse(readFileSync(join(dir, "owner.json"), "utf8"));
    return isOwner(owner) ? owner : null;
  } catch {
    return null;
  }
}

function isOwner(value: unknown): value is Owner {
  return typeof value === "object" && value !== null && "pid" in value && typeof value.pid === "number";
}

function writeOwner(dir: string, owner: Owner): void {
  const path = join(dir, "owner.json");
  const draft = `${path}.${process.pid}.tmp`;
  try {
    writeFileSync(draft, `${JSON.stringify(owner)}\n`, { mode: 0o600 });
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** Field 22 of /proc/<pid>/stat; the name in field 2 may hold blanks and parentheses, so count behind its end. */
function startTimeOf(pid: number | "self"): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const ticks = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]);
    return Number.isSafeInteger(ticks) ? ticks : null;
  } catch {
    return null;
  }
}
