/**
 * Disk faults, in two classes by what can still be promised afterwards.
 * `refused`: nothing of the group was written, and a later group may succeed (disk full, read-only, locked).
 * `lost`: the contents of the disk are unknown (failed sync, damage, removed file, another writer), so no record is
 * acknowledged any more.
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
  /** A commit does not return: the disk hangs. */
  | "journal_slow"
  /** The writer thread has ended. */
  | "journal_writer_ended";

const LOST: ReadonlySet<DiskReason> = new Set([
  "journal_sync_failed",
  "journal_damaged",
  "journal_removed",
  "journal_fenced",
  "journal_writer_ended",
]);

/** Faults after which a restart of the daemon helps: the disk works, but this daemon may no longer write to it. */
const RESTART: ReadonlySet<DiskReason> = new Set([
  "journal_sync_failed",
  "journal_removed",
  "journal_fenced",
  "journal_writer_ended",
]);

/** Free and needed space in bytes, within the file system or the journal's size limit. */
export interface Room {
  /** null: unknown. */
  readonly freeBytes: number | null;
  readonly needBytes: number;
}

/** An UNAVAILABLE fault with the disk's reason. */
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

/** Converts any error to a JournalFault; `path` names the file in its message. Unknown errors count as damage. */
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

/** Whether the disk refuses writes, or refuses ours; what it holds can still be read. */
export function isUnwritable(error: unknown): error is JournalFault {
  return (
    error instanceof JournalFault && (error.reason === "journal_readonly" || error.reason === "journal_full")
  );
}

/**
 * Finds out why a write failed, since SQLite reports a plain I/O error: writing a probe file of one byte shows whether
 * the disk is full or read-only.
 */
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

/** The reason of a node:fs error that occurred while the directory was prepared. */
function reasonOfErrno(error: unknown): DiskReason {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOSPC" || code === "EDQUOT") return "journal_full";
  if (code === "EROFS" || code === "EACCES" || code === "EPERM" || code === "ENOENT" || code === "ENOTDIR")
    return "journal_readonly";
  // of these the disk knows nothing: what is full is the table of open files, or the memory
  return ["EIO", "EMFILE", "ENFILE", "ENOMEM"].includes(String(code)) ? "journal_io" : "journal_damaged";
}
