/**
 * A file with several hard links is written in place: a rename would part it from its other names. What a crash leaves of
 * that is neither the old file nor the new one. The new content lies whole beside it until the write is over, and the old one
 * is kept in the journal; where the file is a mixture of both, it gets its old content again.
 */
import { constants } from "node:fs";
import { lstat, readFile } from "node:fs/promises";
import { openChecked } from "./regular.ts";
import { findTemp } from "./temp-file.ts";

/** As `overwrite` does not write larger ones in place. */
const maxBytes = 64 * 1024 * 1024;

/** `path` is a real path; no write to it may be under way. Tells whether it was mended. */
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

/** Neither of both, and every byte is at its place in one of them: what somebody else wrote since is left alone. */
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
