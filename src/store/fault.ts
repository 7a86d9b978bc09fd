/**
 * What goes wrong with the disk, by what may still be promised afterwards.
 * `refused`: nothing of the group was taken and a later group may succeed (full, read-only, locked).
 * `lost`: what lies on the disk is not known (a sync failed, damage, the file is gone, another writer): nothing is acknowledged any more.
 */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Fault } from "../abi/errors.ts";

export type DiskReason =
  | "journal_full"
  | "journal_readonly"
  | "journal_locked"
  | "journal_io"
  | "journal_sync_failed"
  | "journal_damaged"
  | "journal_removed"
  | "journal_fenced"
  /** A commit that does not come back: the disk hangs. */
  | "journal_slow"
  /** The thread that writes has ended. */
  | "journal_writer_ended";

const LOST: ReadonlySet<DiskReason> = new Set([
  "journal_sync_failed",
  "journal_damaged",
  "journal_removed",
  "journal_fenced",
  "journal_writer_ended",
]);

/** The disk is well, this daemon's hold on it is not. */
const RESTART: ReadonlySet<DiskReason> = new Set([
  "journal_sync_failed",
  "journal_removed",
  "journal_fenced",
  "journal_writer_ended",
]);

/** Bytes of the file system, or of the size that the journal may have. */
export interface Room {
  /** null: not known. */
  readonly freeBytes: number | null;
  readonly needBytes: number;
}

/** UNAVAILABLE with its reason. */
export class JournalFault extends Fault {
  readonly reason: DiskReason;
  /** The message without the reason. */
  readonly what: string;
  readonly room: Room | undefined;
  constructor(reason: DiskReason, what: string, { cause, room }: { cause?: unknown; room?: Room } = {}) {
    const fact = RESTART.has(reason) ? ({ kind: "journal_lost" } as const) : undefined;
    super({ code: "UNAVAILABLE", message: `${reason}: ${what}`, fact, cause });
    this.reason = reason;
    this.what = what;
    this.room = room;
  }
  get isLost(): boolean {
    return LOST.has(this.reason);
  }
}

// Extended result codes of SQLite (sqlite.org/rescode.html); the low byte is the primary one.
const BUSY = 5;
const LOCKED = 6;
const READONLY = 8;
const IOERR = 10;
const FULL = 13;
const CANTOPEN = 14;
const PERM = 3;
const SYNC_FAILURES = new Set([
  IOERR | (4 << 8), // IOERR_FSYNC
  IOERR | (5 << 8), // IOERR_DIR_FSYNC
]);

/** Any error of the database as a JournalFault; `path` says of which. What is not known counts as damage. */
export function toJournalFault(error: unknown, path?: string): JournalFault {
  if (error instanceof JournalFault) return error;
  const what = error instanceof Error ? error.message : String(error);
  return new JournalFault(reasonOf(error), path === undefined ? what : `${path}: ${what}`, { cause: error });
}

function reasonOf(error: unknown): DiskReason {
  const code = error instanceof Error && "errcode" in error ? error.errcode : undefined;
  if (typeof code !== "number") return reasonOfErrno(error);
  if (SYNC_FAILURES.has(code)) return "journal_sync_failed";
  switch (code & 0xff) {
    case FULL:
      return "journal_full";
    case READONLY:
    case CANTOPEN:
    case PERM:
      return "journal_readonly";
    case BUSY:
    case LOCKED:
      return "journal_locked";
    case IOERR:
      return "journal_io";
    default:
      return "journal_damaged";
  }
}

/** The disk takes nothing, or nothing of ours; what is there can be read all the same. */
export function isUnwritable(error: unknown): error is JournalFault {
  return (
    error instanceof JournalFault && (error.reason === "journal_readonly" || error.reason === "journal_full")
  );
}

/** SQLite does not tell why a write failed: whether the disk is full or takes no writes at all, a file of one byte shows. */
export function diagnosed(fault: JournalFault, dir: string): JournalFault {
  if (fault.reason !== "journal_io") return fault;
  const path = join(dir, "probe");
  try {
    writeFileSync(path, "x", { mode: 0o600 });
    rmSync(path);
    return fault;
  } catch (error) {
    const found = toJournalFault(error, path);
    return found.isLost ? fault : new JournalFault(found.reason, fault.what, { cause: fault });
  }
}

/** Errors of node:fs, met while the directory is made ready. */
function reasonOfErrno(error: unknown): DiskReason {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOSPC" || code === "EDQUOT") return "journal_full";
  if (code === "EROFS" || code === "EACCES" || code === "EPERM" || code === "ENOENT" || code === "ENOTDIR")
    return "journal_readonly";
  return code === "EIO" ? "journal_io" : "journal_damaged";
}
