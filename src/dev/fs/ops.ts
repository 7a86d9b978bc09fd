/** The requests that touch one entry: read, mkdir, remove, rename. Paths are absolute host paths. */
import { lstatSync, mkdirSync, renameSync, rmdirSync, unlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { FsRequest } from "../../abi/fs-ops.ts";
import type { RealPath } from "../../kernel/ports/host.ts";
import { driverError, throwIfAborted } from "../driver-error.ts";
import { openToRead } from "./regular.ts";
import { syncDirectory } from "./temp-file.ts";

/** The answer to one read, in bytes. */
const maxReadBytes = 16 * 1024 * 1024;
const chunkBytes = 1024 * 1024;

/** The bytes asked for; fewer at the end of the file. Sizes are not believed: what /proc shows has none. */
export async function readPart(
  real: string,
  request: Extract<FsRequest, { op: "read" }>,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const wanted = Math.min(request.length ?? maxReadBytes, maxReadBytes);
  const handle = await openToRead(real, "Read");
  const chunks: Uint8Array[] = [];
  try {
    for (let got = 0; got < wanted; ) {
      throwIfAborted(signal, "Read");
      const buffer = Buffer.allocUnsafe(Math.min(chunkBytes, wanted - got));
      const { bytesRead } = await handle.read(buffer, 0, buffer.byteLength, (request.offset ?? 0) + got);
      if (bytesRead === 0) break;
      chunks.push(buffer.subarray(0, bytesRead));
      got += bytesRead;
    }
  } finally {
    await handle.close();
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
}

export async function makeDirectory(real: string): Promise<void> {
  mkdirSync(real);
  await syncDirectory(dirname(real));
}

/** A file, link or empty directory; of a link the link itself. */
export async function removeEntry(entry: string): Promise<void> {
  if (lstatSync(entry).isDirectory()) rmdirSync(entry);
  else unlinkSync(entry);
  await syncDirectory(dirname(entry));
}

/** CONFLICT when something is at `to`. The caller holds the locks of both. */
export async function renameEntry(from: string, to: string): Promise<void> {
  lstatSync(from);
  if (lstatSync(to, { throwIfNoEntry: false }) !== undefined)
    throw driverError("Write", "CONFLICT", `exists already: ${to}`);
  renameSync(from, to);
  await syncDirectory(dirname(to));
  if (dirname(from) !== dirname(to)) await syncDirectory(dirname(from));
}

/** The entry itself, its directory resolved: for calls that act on a link and not on what it leads to. */
export function entryPath(path: string, realPath: RealPath): string {
  return path === "/" ? path : join(realPath(dirname(path)), basename(path));
}
