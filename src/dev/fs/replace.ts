/** The `write` request: a whole file, put in place at once. */
import { createHash } from "node:crypto";
import type { Caller, FileChange } from "../../abi/device.ts";
import type { FsWritten } from "../../abi/fs-ops.ts";
import { driverError, throwIfAborted } from "../driver-error.ts";
import { announce, makeParents } from "./announce.ts";
import { findWritable, openToRead } from "./regular.ts";
import { TempFile } from "./temp-file.ts";

const chunkBytes = 1024 * 1024;

interface Replacement {
  readonly content: Uint8Array;
  readonly append: boolean;
  /** SHA-256 the file must have; null: must not exist; undefined: whatever is there. */
  readonly expect: string | null | undefined;
  readonly mkdirs: boolean;
  /** Bytes of the old file that the content takes the place of; undefined: all. */
  readonly part?: { readonly at: number; readonly length: number } | undefined;
  readonly changing?: Caller["changing"];
  readonly call?: FileChange["call"];
}

/** The caller holds the lock of `real`. */
export async function replaceFile(real: string, want: Replacement, signal: AbortSignal): Promise<FsWritten> {
  const before = await findWritable(real, "Write");
  if (want.expect !== undefined)
    checkExpected(real, before === undefined ? null : await hashFile(real, signal), want.expect);
  const made = want.mkdirs ? await makeParents(real) : [];
  const temp = await TempFile.create(real, before);
  try {
    if (want.append && before !== undefined) await eachChunk(real, signal, (chunk) => temp.write(chunk));
    if (want.part === undefined) await temp.write(want.content);
    else await writePart(real, temp, want.content, want.part, signal);
    throwIfAborted(signal, "Write");
    const after = { kind: "file", digest: temp.sha256, mode: Number(before?.mode ?? 0n) & 0o7777 } as const;
    const { changing, call } = want;
    const mode = await announce(changing, { path: real, before, after, made, ...(call && { call }) });
    throwIfAborted(signal, "Write");
    const isBound = want.append || want.expect !== undefined || changing !== undefined;
    const { created, sha256 } = await temp.commit(isBound ? { stats: before } : undefined, mode);
    return { ok: true, created, sha256 };
  } finally {
    await temp.discard();
  }
}

/** INVALID: the file has no such bytes. */
async function writePart(
  real: string,
  temp: TempFile,
  content: Uint8Array,
  { at, length }: NonNullable<Replacement["part"]>,
  signal: AbortSignal,
): Promise<void> {
  const end = at + length;
  let isPut = false;
  let offset = 0;
  const put = async (): Promise<void> => {
    isPut = true;
    await temp.write(content);
  };
  await eachChunk(real, signal, async (chunk) => {
    const from = offset;
    offset += chunk.byteLength;
    if (from < at) await temp.write(chunk.subarray(0, at - from));
    if (!isPut && offset >= at) await put();
    if (offset > end) await temp.write(chunk.subarray(Math.max(0, end - from)));
  });
  if (!isPut && at === 0) await put();
  if (!isPut || end > offset)
    throw driverError("Write", "INVALID", `fs: write.part: the file has ${offset} bytes`);
}

function checkExpected(real: string, found: string | null, expected: string | null): void {
  if (found === expected) return;
  if (expected === null) throw driverError("Write", "CONFLICT", `exists already: ${real}`);
  if (found === null) throw driverError("Write", "CONFLICT", `was removed meanwhile: ${real}`);
  throw driverError("Write", "CONFLICT", `changed meanwhile: ${real}`);
}

async function hashFile(real: string, signal: AbortSignal): Promise<string> {
  const hash = createHash("sha256");
  await eachChunk(real, signal, async (chunk) => void hash.update(chunk));
  return hash.digest("hex");
}

async function eachChunk(
  real: string,
  signal: AbortSignal,
  take: (chunk: Uint8Array) => Promise<void>,
): Promise<void> {
  const handle = await openToRead(real, "Write");
  const buffer = Buffer.allocUnsafe(chunkBytes);
  try {
    for (;;) {
      throwIfAborted(signal, "Write");
      const { bytesRead } = await handle.read(buffer, 0, chunkBytes);
      if (bytesRead === 0) return;
      await take(buffer.subarray(0, bytesRead));
    }
  } finally {
    await handle.close();
  }
}
