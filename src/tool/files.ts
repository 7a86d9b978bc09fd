/** Files by system call: the only place where tools access /dev/fs and Crux's own files. */
import { isUtf8 } from "node:buffer";
import { posix } from "node:path";
import { type HostStat, O_RDONLY, O_RDWR, O_WRONLY, type OpenFlag } from "../abi/device.ts";
import { codeOf } from "../abi/errors.ts";
import type { Fd } from "../abi/ids.ts";
import type { FsListing, FsRequest, FsWritten } from "../abi/ops/fs.ts";
import type { Syscalls } from "../abi/sys.ts";
import { failure } from "./failure.ts";

/** The handle and the signal through which a call does its I/O. */
export interface Io {
  readonly sys: Syscalls;
  readonly signal: AbortSignal;
}

const CHUNK_BYTES = 1024 * 1024;
/** The most that one read request of /dev/fs returns. */
const MAX_READ_BYTES = 16 * 1024 * 1024;
/** The most that one write system call accepts. */
const MAX_WRITE_BYTES = 10 * 1024 * 1024;
/** Enough for 20 MB of search output after JSON escaping. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** One request to a device that is opened for reading and writing, and its whole answer. */
async function request(io: Io, path: string, body: object, maxBytes = MAX_ANSWER_BYTES) {
  const data = Buffer.from(JSON.stringify(body));
  if (data.byteLength > MAX_WRITE_BYTES)
    throw failure("INVALID", "too large to write in one piece (max 10 MiB)");
  return withFile(io, path, O_RDWR, async (fd) => {
    await io.sys.write(fd, data, io.signal);
    return readToEnd(io, fd, maxBytes);
  });
}

/** Opens, uses, and always closes. */
export async function withFile<T>(
  io: Io,
  path: string,
  flags: OpenFlag,
  use: (fd: Fd) => Promise<T>,
): Promise<T> {
  const fd = await io.sys.open(path, flags, io.signal);
  let result: T;
  try {
    result = await use(fd);
  } catch (error) {
    // report the first fault; after the end of the process the fd is gone anyway
    await io.sys.close(fd).catch(() => undefined);
    throw error;
  }
  await io.sys.close(fd);
  return result;
}

/** All bytes up to the end, or the first `maxBytes`. */
export async function readToEnd(io: Io, fd: Fd, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for (let left = maxBytes; left > 0; ) {
    const chunk = await io.sys.read(fd, Math.min(CHUNK_BYTES, left), io.signal);
    if (chunk.byteLength === 0) break;
    chunks.push(chunk);
    left -= chunk.byteLength;
  }
  return Buffer.concat(chunks);
}

/** Runs an operation of /dev/fs on `path`, an absolute host path, and returns its answer. */
export async function fsAnswer<T>(io: Io, path: string, operation: FsRequest): Promise<T> {
  return JSON.parse((await request(io, devicePath(path), operation)).toString("utf8")) as T;
}

function devicePath(path: string): string {
  return path === "/" ? "/dev/fs" : `/dev/fs${path}`;
}

/** The stat of a host file. */
export type HostFile = HostStat & { readonly size: number };

/** undefined: no such file. */
export async function findStat(io: Io, path: string): Promise<HostFile | undefined> {
  try {
    const { host, size } = await io.sys.stat(devicePath(path), io.signal);
    return host && { ...host, size };
  } catch (error) {
    if (codeOf(error) === "NOT_FOUND") return undefined;
    throw error;
  }
}

/** The first `maxBytes` bytes of a host file, in as many requests as needed: a trace shows them as in the manual. */
export async function readWholeFile(io: Io, path: string, maxBytes: number): Promise<Buffer> {
  const pages: Buffer[] = [];
  for (let offset = 0; offset < maxBytes; ) {
    const length = Math.min(MAX_READ_BYTES, maxBytes - offset);
    const page = await request(io, devicePath(path), { op: "read", offset, length }, length);
    pages.push(page);
    offset += page.byteLength;
    if (page.byteLength < length) break;
  }
  return pages.length === 1 && pages[0] !== undefined ? pages[0] : Buffer.concat(pages);
}

/** The first `maxBytes` bytes of one of Crux's own files: /proc, /var/out. */
export async function readCruxFile(io: Io, path: string, maxBytes: number): Promise<Buffer> {
  return withFile(io, path, O_RDONLY, (fd) => readToEnd(io, fd, maxBytes));
}

/** The last `maxBytes` bytes of such a file. */
export async function readCruxFileEnd(io: Io, path: string, maxBytes: number): Promise<Buffer> {
  return withFile(io, path, O_RDONLY, async (fd) => {
    let end = Buffer.alloc(0);
    for (;;) {
      const chunk = await io.sys.read(fd, CHUNK_BYTES, io.signal);
      if (chunk.byteLength === 0) return end;
      end = Buffer.concat([end, chunk]).subarray(-maxBytes);
    }
  });
}

/** Replaces the whole file; `expect` is the hash it must have now, null: it must not exist. CONFLICT otherwise. */
export async function writeHostFile(
  io: Io,
  path: string,
  { bytes, expect }: { readonly bytes: Buffer; readonly expect: string | null },
): Promise<FsWritten> {
  return fsAnswer<FsWritten>(io, path, { op: "write", ...contentOf(bytes), expect, mkdirs: expect === null });
}

/** Replaces some bytes of a file whose hash must be `expect`; CONFLICT otherwise. */
export async function writeHostPart(
  io: Io,
  path: string,
  { expect, at, length, content }: { expect: string; at: number; length: number; content: Buffer },
): Promise<FsWritten> {
  return fsAnswer<FsWritten>(io, path, { op: "write", ...contentOf(content), expect, part: { at, length } });
}

function contentOf(bytes: Buffer): { content: string; encoding?: "base64" } {
  if (isUtf8(bytes)) return { content: bytes.toString("utf8") };
  return { content: bytes.toString("base64"), encoding: "base64" };
}

/** The names in a directory without hidden ones; empty if it cannot be listed. */
export async function siblingNames(io: Io, path: string): Promise<string[]> {
  try {
    const request: FsRequest = { op: "list", depth: 1, ignored: true, limit: 1000 };
    const listing = await fsAnswer<FsListing>(io, posix.dirname(path), request);
    return listing.entries.map((entry) => posix.basename(entry.path));
  } catch (error) {
    if (codeOf(error) === "CANCELLED") throw error;
    return [];
  }
}

/** Stores a whole text under /var/out. */
export async function writeOutput(io: Io, path: string, text: string): Promise<void> {
  const bytes = Buffer.from(text);
  await withFile(io, path, O_WRONLY, async (fd) => {
    for (let at = 0; at < bytes.byteLength; at += CHUNK_BYTES)
      await io.sys.write(fd, bytes.subarray(at, at + CHUNK_BYTES), io.signal);
  });
}
