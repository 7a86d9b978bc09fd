/**
 * Repairs a file with several hard links after a crash. Such a file is written in place, as a rename would separate
 * it from its other names, so a crash can leave a mixture of the old and the new content. The complete new content
 * lies beside it until the write has finished, and the old content is kept in the journal; if the file is a mixture
 * of both, its old content is restored.
 */
import { constants } from "node:fs";
import { lstat, readFile } from "node:fs/promises";
import { openChecked } from "./regular.ts";
import { findTemp } from "./temp-file.ts";

/** Same as the bound of `overwrite`, which does not write larger files in place. */
const maxBytes = 64 * 1024 * 1024;

/** `path` is a real path; no write to it may be in progress. Returns true if it was repaired. */
export async function mendFile(path: string, old: Uint8Array): Promise<boolean> {
  const stats = await lstat(path).catch(() => undefined);
  if (stats === undefined || !stats.isFile() || stats.nlink < 2 || stats.size > maxBytes) return false;
  const now = await readFile(path);
  for (const temp of await findTemp(path)) {
    const found = await lstat(temp);
    if (!found.isFile() || found.size > maxBytes || !isTorn(now, old, await readFile(temp))) continue;
    await putBack(path, old);
    return true;
  }
  return false;
}

/**
 * True if `now` is neither `old` nor `next`, but each byte equals the byte at its place in one of them: a later
 * change by another program is left alone.
 */
export function isTorn(now: Uint8Array, old: Uint8Array, next: Uint8Array): boolean {
  if (Buffer.compare(now, old) === 0 || Buffer.compare(now, next) === 0) return false;
  if (now.length > Math.max(old.length, next.length)) return false;
  if (now.length < Math.min(old.length, next.length)) return false;
  return now.every((byte, at) => byte === old[at] || byte === next[at]);
}

async function putBack(path: string, old: Uint8Array): Promise<void> {
  const handle = await openChecked(path, { flags: constants.O_WRONLY | constants.O_NONBLOCK }, "Write");
  try {
    for (let at = 0; at < old.byteLength; )
      at += (await handle.write(old, at, old.byteLength - at, at)).bytesWritten;
    await handle.truncate(old.byteLength);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
