/** Errors of devices with documented codes, and their mapping from the host's errno. */
import type { ErrorCode } from "../abi/errno.ts";
import { DriverError, UnreadError } from "../abi/errors.ts";

export type FileOp = "Open" | "Read" | "Write" | "Close" | "Stat";

export function driverError(op: FileOp, code: ErrorCode, message: string, cause?: unknown): DriverError {
  return new DriverError({ op, code, message, cause });
}

/** An error without foreign content: nothing was read from outside, and the message is entirely ours. */
export function unreadError(op: FileOp, code: ErrorCode, message: string, cause?: unknown): UnreadError {
  return new UnreadError({ op, code, message, cause });
}

export function cancelled(op: FileOp): DriverError {
  return driverError(op, "CANCELLED", "cancelled");
}

export function throwIfAborted(signal: AbortSignal, op: FileOp): void {
  if (signal.aborted) throw cancelled(op);
}

/** The errno name of a failed host call, such as `ENOENT`; undefined for any other error. */
export function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" && /^E[A-Z0-9]+$/.test(error.code) ? error.code : undefined;
}

/**
 * Converts the error of a failed host call on `path` to a documented one. Documented errors and bugs pass unchanged.
 */
export function hostError(op: FileOp, path: string, error: unknown): unknown {
  if (error instanceof DriverError) return error;
  if (error instanceof Error && error.name === "AbortError") return cancelled(op);
  const errno = errnoOf(error);
  if (errno === undefined) return error;
  const [code, text] = WORDS[errno] ?? ["DRIVER", `${errno} on`];
  return unreadError(op, code, `${text}: ${path}`, error);
}

const WORDS: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  ENOENT: ["NOT_FOUND", "file not found"],
  // a path that continues below a file
  ENOTDIR: ["NOT_FOUND", "file not found"],
  EEXIST: ["CONFLICT", "exists already"],
  ENOTEMPTY: ["CONFLICT", "directory is not empty"],
  EACCES: ["PERMISSION", "no permission (EACCES)"],
  EPERM: ["PERMISSION", "not permitted (EPERM)"],
  EROFS: ["PERMISSION", "read-only file system (EROFS)"],
  EISDIR: ["INVALID", "is a directory"],
  ENAMETOOLONG: ["INVALID", "name too long"],
  ELOOP: ["INVALID", "too many symbolic links"],
  ENOSPC: ["DRIVER", "no space left on the device (ENOSPC)"],
  EDQUOT: ["DRIVER", "disk quota exceeded (EDQUOT)"],
};
