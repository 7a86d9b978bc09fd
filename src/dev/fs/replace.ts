/** The `write` request: replaces a file atomically. */
import { createHash } from "node:crypto";
import type { Caller, FileChange } from "../../abi/device.ts";
import type { FsWritten } from "../../abi/ops/fs.ts";
import { driverError, throwIfAborted } from "../driver-error.ts";
import { makeParents } from "../folder.ts";
import { Announcer } from "./announce.ts";
import { findWritable, openToRead } from "./regular.ts";
import { TempFile } from "./temp-file.ts";

const chunkBytes = 1024 * 1024;

/** Asked when the new content lies beside the file that it replaces. */
export type CheckRoom = (
  real: string,
  less: { readonly bytes: number; readonly entries: number },
) => Promise<void>;

export interface Replacement {
  readonly content: Uint8Array;
  readonly append: boolean;
  /** The SHA-256 that the file must have; null: the file must not exist; undefined: no condition. */
  readonly expect: string | null | undefined;
  readonly mkdirs: boolean;
  /** The bytes of the old file that the content replaces; undefined: all. */
  readonly part?: { readonly at: number; readonly length: number } | undefined;
  readonly changing?: Caller["changing"];
  readonly call?: FileChange["call"];
  readonly checkRoom?: CheckRoom | undefined;
}

/** What goes with the file that is replaced. */
export const lessOf = (before: { readonly size: bigint } | undefined) =>
  before === undefined ? { bytes: 0, entries: 0 } : { bytes: Number(before.size), entries: 1 };

/** The caller holds the lock of `real`. */
export async function replaceFile(real: string, want: Replacement, signal: AbortSignal): Promise<FsWritten> {
  const before = await findWritable(real, "Write");
  if (want.expect !== undefined)
    checkExpected(real, before === undefined ? null : await hashFile(real, signal), want.expect);
  const made = want.mkdirs ? makeParents(real) : [];
  const temp = await TempFile.create(real, before);
  try {
    if (want.append && before !== undefined) await eachChunk(real, signal, (chunk) => temp.write(chunk));
    if (want.part === undefined) await temp.write(want.content);
    else await new Splice(temp, want.content, want.part).copy((put) => eachChunk(real, signal, put));
    throwIfAborted(signal, "Write");
    await want.checkRoom?.(real, lessOf(before));
    const after = { kind: "file", digest: temp.sha256, mode: Number(before?.mode ?? 0n) & 0o7777 } as const;
    const { changing, call } = want;
    const mode = await new Announcer(changing, call).tell({ path: real, before, after, made });
    throwIfAborted(signal, "Write");
    const isBound = want.append || want.expect !== undefined || changing !== undefined;
    const { created, sha256 } = await temp.commit(isBound ? { stats: before } : undefined, mode);
    return { ok: true, created, sha256 };
  } finally {
    await temp.discard();
  }
}

/** Copies the old file with some of its bytes replaced. */
class Splice {
  readonly #temp: TempFile;
  readonly #content: Uint8Array;
  readonly #at: number;
  readonly #end: number;
  #isPut = false;
  #offset = 0;

  constructor(temp: TempFile, content: Uint8Array, { at, length }: NonNullable<Replacement["part"]>) {
    this.#temp = temp;
    this.#content = content;
    this.#at = at;
    this.#end = at + length;
  }

  /** INVALID: the file is too short to have these bytes. */
  async copy(eachOld: (take: (chunk: Uint8Array) => Promise<void>) => Promise<void>): Promise<void> {
    await eachOld((chunk) => this.#take(chunk));
    if (!this.#isPut && this.#at === 0) await this.#put();
    if (!this.#isPut || this.#end > this.#offset)
      throw driverError("Write", "INVALID", `fs: write.part: the file has ${this.#offset} bytes`);
  }

  async #take(chunk: Uint8Array): Promise<void> {
    const from = this.#offset;
    this.#offset += chunk.byteLength;
    if (from < this.#at) await this.#temp.write(chunk.subarray(0, this.#at - from));
    if (!this.#isPut && this.#offset >= this.#at) await this.#put();
    if (this.#offset > this.#end) await this.#temp.write(chunk.subarray(Math.max(0, this.#end - from)));
  }

  async #put(): Promise<void> {
    this.#isPut = true;
    await this.#temp.write(this.#content);
  }
}

export function checkExpected(real: string, found: string | null, expected: string | null): void {
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
