/**
 * The new content of a file, kept beside it until it is complete: `.<name>.crux-<random>`, readable by its owner
 * only. It then replaces the file by rename, so that at every moment, even after a crash, either the old file or the
 * new one exists.
 */
import { createHash, randomBytes } from "node:crypto";
import { type BigIntStats, constants, lstatSync, renameSync } from "node:fs";
import { type FileHandle, readdir, readFile, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { driverError } from "../driver-error.ts";
import { Folder } from "../folder.ts";
import { bytesOf, findFile, openChecked } from "./regular.ts";

const { O_WRONLY, O_CREAT, O_EXCL } = constants;
/** Bound of a file name, on all common file systems. */
const maxNameBytes = 255;
const randomChars = 16;

/** The file that is replaced. */
interface Replaced {
  readonly real: string;
  /** Its state at the start, used if it is removed meanwhile. */
  readonly before: BigIntStats | undefined;
  readonly folder: Folder;
}

export class TempFile {
  readonly #replaced: Replaced;
  /** By way of the folder, as `#target`. */
  readonly #path: string;
  readonly #target: string;
  readonly #handle: FileHandle;
  readonly #hash = createHash("sha256");
  #digest: string | undefined;
  #isOver = false;
  #isPlaced = false;

  private constructor(replaced: Replaced, path: string, handle: FileHandle) {
    this.#replaced = replaced;
    this.#path = path;
    this.#target = replaced.folder.at(replaced.real);
    this.#handle = handle;
  }

  /** `before`: the current state of the file at `real`. The caller must call commit or discard. */
  static async create(real: string, before: BigIntStats | undefined): Promise<TempFile> {
    const path = join(dirname(real), tempPrefix(real) + randomBytes(randomChars / 2).toString("hex"));
    // a new file gets its mode from the umask
    const mode = before === undefined ? 0o666 : 0o600;
    const folder = Folder.of(real, "Write");
    try {
      const at = folder.at(path);
      const handle = await openChecked(path, { flags: O_WRONLY | O_CREAT | O_EXCL, mode, at }, "Write");
      return new TempFile({ real, before, folder }, at, handle);
    } catch (error) {
      folder[Symbol.dispose]();
      throw error;
    }
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.#hash.update(bytes);
    for (let at = 0; at < bytes.byteLength; )
      at += (await this.#handle.write(bytes, at, bytes.byteLength - at)).bytesWritten;
  }

  /** SHA-256 of the content, in hex; after it was read, nothing more may be written. */
  get sha256(): string {
    this.#digest ??= this.#hash.digest("hex");
    return this.#digest;
  }

  /**
   * Puts the content in place; the caller holds the lock of the real path. CONFLICT: the file differs from
   * `unchangedSince`. `mode`: the permission bits to set instead of the old file's. On failure only the old file
   * remains.
   */
  async commit(
    unchangedSince?: { stats: BigIntStats | undefined },
    mode: number | null = null,
  ): Promise<{ sha256: string; created: boolean }> {
    try {
      const { real, folder } = this.#replaced;
      const now = await findFile(real, "Write", this.#target);
      await this.#takeModeAndOwner(now ?? this.#replaced.before);
      if (mode !== null) await this.#handle.chmod(mode);
      await this.#handle.sync();
      // the temporary file beside it shows that an overwrite was interrupted by a crash
      if (now !== undefined && now.nlink > 1n) await folder.sync();
      // from here to the rename no other code of this daemon runs
      const target = this.#checkTarget(unchangedSince);
      if (target !== undefined && target.nlink > 1n) await overwrite(real, target, this.#path);
      else this.#rename();
      await folder.sync();
      return { sha256: this.sha256, created: now === undefined };
    } finally {
      await this.discard();
    }
  }

  /** Idempotent; after commit it only closes the handle. */
  async discard(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    using _folder = this.#replaced.folder;
    await this.#handle.close();
    if (!this.#isPlaced) await rm(this.#path, { force: true });
  }

  async #takeModeAndOwner(stats: BigIntStats | undefined): Promise<void> {
    if (stats === undefined) return;
    const [uid, gid] = [Number(stats.uid), Number(stats.gid)];
    const mine = await this.#handle.stat();
    const isKept = (mine.uid === uid && mine.gid === gid) || (await this.#chown(uid, gid));
    // changing the owner clears set-uid, so the mode is set afterwards; with a different owner, set-uid would grant
    // another user's rights
    await this.#handle.chmod(Number(stats.mode) & (isKept ? 0o7777 : 0o777));
  }

  #chown(uid: number, gid: number): Promise<boolean> {
    return this.#handle.chown(uid, gid).then(
      () => true,
      () => false,
    );
  }

  #checkTarget(unchangedSince: { stats: BigIntStats | undefined } | undefined): BigIntStats | undefined {
    this.#replaced.folder.check("Write");
    const now = lstatSync(this.#target, { bigint: true, throwIfNoEntry: false });
    if (now !== undefined && !now.isFile())
      throw driverError("Write", "CONFLICT", `is no longer a regular file: ${this.#replaced.real}`);
    if (unchangedSince !== undefined && !isSameState(now, unchangedSince.stats))
      throw driverError("Write", "CONFLICT", `changed meanwhile: ${this.#replaced.real}`);
    return now;
  }

  #rename(): void {
    renameSync(this.#path, this.#target);
    this.#isPlaced = true;
  }
}

/** Removes temporary files that a crash left beside `path`, a real path. No write to it may be in progress. */
export async function sweepTemp(path: string): Promise<void> {
  for (const temp of await findTemp(path)) await rm(temp, { force: true });
}

/** The temporary files beside `path`, a real path. */
export async function findTemp(path: string): Promise<readonly string[]> {
  const prefix = tempPrefix(path);
  const directory = dirname(path);
  const names = await readdir(directory).catch(() => []);
  return names
    .filter((name) => name.startsWith(prefix) && /^[0-9a-f]+$/.test(name.slice(prefix.length)))
    .map((name) => join(directory, name));
}

/** A very long name is cut at a character boundary, so that the temporary name still fits. */
function tempPrefix(path: string): string {
  const room = maxNameBytes - ".".length - ".crux-".length - randomChars;
  let name = basename(path);
  while (Buffer.byteLength(name) > room) name = [...name].slice(0, -1).join("");
  return `.${name}.crux-`;
}

function isSameState(a: BigIntStats | undefined, b: BigIntStats | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return (
    a.dev === b.dev &&
    a.ino === b.ino &&
    a.size === b.size &&
    a.mtimeNs === b.mtimeNs &&
    a.ctimeNs === b.ctimeNs
  );
}

/**
 * Bound for overwriting: the old and the new content are held in memory, so that a failure (a full disk) can be
 * undone.
 */
const maxBytes = 64 * 1024 * 1024;

/**
 * Copies the temporary file over `real`, whose state is `now`: it has several hard links, and a rename would separate
 * it from its other names. On failure the old content is restored.
 */
async function overwrite(real: string, now: BigIntStats, tempPath: string): Promise<void> {
  const next = await readFile(tempPath);
  if (now.size > maxBytes || next.byteLength > maxBytes)
    throw driverError("Write", "INVALID", `has several hard links and is over 64 MiB: ${real}`);
  const old = await bytesOf(real);
  const handle = await openChecked(real, { flags: constants.O_WRONLY | constants.O_NONBLOCK }, "Write");
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
