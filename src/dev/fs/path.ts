/** Converts a path below /dev/fs to a path of the host. */
import { normalize, resolve } from "node:path";
import { driverError, type FileOp } from "../driver-error.ts";

/**
 * `/etc/hosts` is that file; `/./src/a.ts` is `src/a.ts` below `cwd`; an empty path is the root. The VFS has already
 * refused `..`.
 */
export function hostPath(subpath: string, cwd: string, op: FileOp): string {
  if (subpath.includes("\0")) throw driverError(op, "INVALID", "a path may not contain NUL");
  const isBelowCwd = subpath === "/." || subpath.startsWith("/./");
  return isBelowCwd ? resolve(cwd, subpath.slice(1)) : normalize(subpath === "" ? "/" : subpath);
}

/** The other path of a rename: absolute, or below `cwd`. */
export function otherPath(path: string, cwd: string): string {
  if (path === "" || path.includes("\0"))
    throw driverError("Write", "INVALID", `not a path: ${JSON.stringify(path)}`);
  return resolve(cwd, path);
}
