/**
 * Ensures a single owner of a state directory, by an exclusive transaction on lease.db until the owner ends. It rests
 * on an fcntl lock, which the operating system frees at the owner's death, so there is no expiry to guess and no stale
 * lock. Nothing else in this process may open lease.db while it is held: closing that descriptor would drop the lock.
 */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Fault } from "../abi/errors.ts";
import { createPrivateFile, DATABASE_NAME, prepareDirectory } from "./directory.ts";
import { isUnwritable, type JournalFault, toJournalFault } from "./fault.ts";

/** The contents of owner.json, which names the lease's holder to the user. Only the lock decides. */
interface Owner {
  readonly pid: number;
  /** Start of the process in clock ticks since boot, to detect a reused pid (Linux); null elsewhere. */
  readonly startTime: number | null;
  /** Wall clock, ms. */
  readonly since: number;
  readonly kernelId?: string;
  readonly epoch?: number;
}

export interface Lease {
  /** Present if the directory cannot be written, so that its journal can only be read. */
  readonly refusal?: JournalFault;
  /** Adds to owner.json what only the open journal knows. */
  describe(identity: { kernelId: string; epoch: number }): void;
  /** Frees the lock and removes owner.json. Idempotent. */
  release(): void;
}

/** null: another process holds the lease. Errors: UNAVAILABLE if the directory cannot be used. */
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
 * Like takeLease, but if the directory cannot be written, and so not be locked, takes a lease on `elsewhere`, for
 * reading only. null: another reader holds that lease, or the owner of the directory is running. Errors: UNAVAILABLE if
 * there is no journal to read either.
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

/** Whether the owner is running; a process that reuses its pid has another start time. */
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
        // if the disk is full by now: the existing file already names the holder
      }
    },
    release: () => {
      if (!db.isOpen) return;
      // before the lock is freed: afterwards the file may belong to the next owner, as it does already if the lock was lost
      if (readOwner(dir)?.pid === owner.pid) rmSync(join(dir, "owner.json"), { force: true });
      db.close();
    },
  };
}

/** The owner in owner.json, which outlives an owner that was killed; null: no such file, or it is not readable. */
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

/**
 * Field 22 of /proc/<pid>/stat; the name in field 2 may contain blanks and parentheses, so fields are counted after it.
 */
function startTimeOf(pid: number | "self"): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const ticks = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]);
    return Number.isSafeInteger(ticks) ? ticks : null;
  } catch {
    return null;
  }
}
