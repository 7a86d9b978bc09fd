/** Writing a file in place, for one with several hard links: a rename would part it from its other names. */
import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, readFile } from "node:fs/promises";
import { driverError } from "../driver-error.ts";
import { openChecked } from "./regular.ts";

/** Old and new content are held in memory, so that a full disk can be undone. */
const maxBytes = 64 * 1024 * 1024;

/** Copies the temporary file over `real`, which is `now`. A failure puts the old content back. */
export async function overwrite(real: string, now: BigIntStats, tempPath: string): Promise<void> {
  const next = await readFile(tempPath);
  if (now.size > maxBytes || next.byteLength > maxBytes)
    throw driverError("Write", "INVALID", `has several hard links and is over 64 MiB: ${real}`);
  const old = await readFile(real);
  const handle = await openChecked(real, constants.O_WRONLY | constants.O_NONBLOCK, 0, "Write");
  try {
    if ((await handle.stat({ bigint: true })).ino !== now.ino)
      throw driverError("Write", "CONFLICT", `changed meanwhile: ${real}`);
    await fill(handle, next).catch(async (error: unknown) => {
      await fill(handle, old);
      throw error;
    });
  } finally {
    await handle.close();
  }
}

async function fill(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.byteLength; )
    at += (await handle.write(bytes, at, bytes.byteLength - at, at)).bytesWritten;
  await handle.truncate(bytes.byteLength);
  await handle.sync();
}
