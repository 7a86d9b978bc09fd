/** The requests on a single entry: read, mkdir, remove, rename. Paths are absolute host paths. */
import { lstatSync, mkdirSync, renameSync, rmdirSync, unlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { FsRequest } from "../../abi/ops/fs.ts";
import type { RealPath } from "../../kernel/ports/host.ts";
import { driverError, throwIfAborted } from "../driver-error.ts";
import { openToRead } from "./regular.ts";
import { syncDirectory } from "./temp-file.ts";

/** Bound on the answer to one read, in bytes. */
const maxReadBytes = 16 * 1024 * 1024;
const chunkBytes = 1024 * 1024;

/**
 * The requested bytes; fewer at the end of the file. File sizes are not relied on: files in /proc report a size of 0.
 */
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

/** Removes a file, a link (not its target) or an empty directory. */
export async function removeEntry(entry: string): Promise<void> {
  if (lstatSync(entry).isDirectory()) rmdirSync(entry);
  else unlinkSync(entry);
  await syncDirectory(dirname(entry));
}

/** CONFLICT: `to` exists. The caller holds the locks of both. */
export async function renameEntry(from: string, to: string): Promise<void> {
  lstatSync(from);
  if (lstatSync(to, { throwIfNoEntry: false }) !== undefined)
    throw driverError("Write", "CONFLICT", `exists already: ${to}`);
  renameSync(from, to);
  await syncDirectory(dirname(to));
  if (dirname(from) !== dirname(to)) await syncDirectory(dirname(from));
}

/**
 * The path of the entry itself, with only its directory resolved: for calls that act on a link, not on its target.
 */
export function entryPath(path: string, realPath: RealPath): string {
  return path === "/" ? path : join(realPath(dirname(path)), basename(path));
}
