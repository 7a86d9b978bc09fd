/** Small files that are replaced as a whole or not at all: written beside, synced, put in place by a rename. */
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";

/** `file`: a real path whose directory exists. `mode`: the mode of a new file; an existing one keeps its own. */
export function writeAtomically(file: string, text: string, mode: number): void {
  const old = statSync(file, { throwIfNoEntry: false });
  const temp = join(dirname(file), `.${basename(file)}.${randomBytes(8).toString("hex")}`);
  try {
    const fd = openSync(temp, "wx", 0o600);
    try {
      writeFileSync(fd, text);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    chmodSync(temp, old === undefined ? mode : old.mode & 0o777);
    renameSync(temp, file);
  } catch (error) {
    rmSync(temp, { force: true });
    throw error;
  }
  syncDirectory(dirname(file));
}

/**
 * A file that the host did not give (EMFILE, EIO, EACCES …): nothing is known of its content, so that it stays where it
 * is and is never replaced. Only content that was read and makes no sense may be set aside.
 */
export function isNotGiven(error: unknown): boolean {
  return error instanceof Error && "errno" in error;
}

/** Makes the names of `dir` and of those above it durable, up to `first`, the highest that was just made. */
export function syncMade(dir: string, first: string): void {
  for (let at = dir; at.length >= first.length; at = dirname(at)) syncDirectory(dirname(at));
}

/** Syncs a directory, which makes a rename in it durable. Some file systems do not support this. */
function syncDirectory(dir: string): void {
  try {
    const fd = openSync(dir, "r");
    try {
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  } catch {
    // best effort
  }
}
