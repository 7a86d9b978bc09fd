/** The requests on a single entry: read, mkdir, remove, rename. Paths are absolute host paths. */
import { lstatSync, mkdirSync, renameSync, rmdirSync, unlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { FsRequest } from "../../abi/ops/fs.ts";
import type { RealPath } from "../../kernel/ports/host.ts";
import { driverError, throwIfAborted } from "../driver-error.ts";
import { Folder } from "../folder.ts";
import { openToRead } from "./regular.ts";

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
  using folder = Folder.of(real, "Write");
  mkdirSync(folder.at(real));
  await folder.sync();
}

/** Removes a file, a link (not its target) or an empty directory. */
export async function removeEntry(entry: string): Promise<void> {
  using folder = Folder.of(entry, "Write");
  const at = folder.at(entry);
  if (lstatSync(at).isDirectory()) rmdirSync(at);
  else unlinkSync(at);
  await folder.sync();
}

/** CONFLICT: `to` exists. The caller holds the locks of both. */
export async function renameEntry(from: string, to: string): Promise<void> {
  using old = Folder.of(from, "Write");
  using folder = Folder.of(to, "Write");
  lstatSync(old.at(from));
  if (lstatSync(folder.at(to), { throwIfNoEntry: false }) !== undefined)
    throw driverError("Write", "CONFLICT", `exists already: ${to}`);
  renameSync(old.at(from), folder.at(to));
  await folder.sync();
  if (old.real !== folder.real) await old.sync();
}

/**
 * The path of the entry itself, with only its directory resolved: for calls that act on a link, not on its target.
 */
export function entryPath(path: string, realPath: RealPath): string {
  return path === "/" ? path : join(realPath(dirname(path)), basename(path));
}
