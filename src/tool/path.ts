/**
 * Path arguments. A tool names files by absolute host path, `..` resolved lexically; the gate resolves
 * symlinks. Paths below a mount of Crux itself (/proc, /var/out, /mnt/mcp) are Crux's files, not the host's.
 */
import { posix } from "node:path";
import type { Effect } from "../abi/effects.ts";
import { isWithin } from "../lib/path.ts";
import { failure } from "./failure.ts";

/** The absolute path of an argument; "" is the working directory. The disk is not accessed. */
export function hostPath(given: string, cwd: string): string {
  if (given.includes("\0")) throw failure("INVALID", "path contains a NUL character");
  // accessing such a path would send the user's credentials to the named host
  if (given.startsWith("\\\\")) throw failure("INVALID", `network path: ${given}`);
  return posix.resolve(cwd, given);
}

/** Whether it is a file of Crux, opened at its own path instead of below /dev/fs. */
export function isCruxPath(path: string): boolean {
  return /^\/(proc|var\/out|mnt\/mcp)(\/|$)/.test(path);
}

export function isInRoots(path: string, roots: readonly string[]): boolean {
  return roots.some((root) => isWithin(root, path));
}

export function readEffect(path: string, subtree = false): Effect {
  if (isCruxPath(path)) return { kind: "state", path };
  return subtree ? { kind: "read", path, subtree } : { kind: "read", path };
}

/** The path of a file to change; Crux's own files are read-only. */
export function writablePath(given: string, cwd: string): string {
  const path = hostPath(given, cwd);
  if (isCruxPath(path)) throw failure("PERMISSION", `read-only: ${given}`);
  return path;
}
