/**
 * The new content of a file, beside it until it is whole: `.<name>.crux-<random>`, readable by its owner alone. Then it takes
 * the file's place by rename, so that at every moment, crash included, the old file or the new one is there.
 */
import { createHash, randomBytes } from "node:crypto";
import { type BigIntStats, constants, lstatSync, renameSync } from "node:fs";
import { type FileHandle, open, readdir, readFile, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { driverError } from "../driver-error.ts";
import { findFile, openChecked } from "./regular.ts";

const { O_WRONLY, O_CREAT, O_EXCL } = constants;
/** Of a name, on every file system that matters. */
const maxNameBytes = 255;
const randomChars = 16;

/** The file whose place it takes. */
interface Replaced {
  readonly real: string;
  /** As it was when this began: for one that is removed meanwhile. */
  readonly before: BigIntStats | undefined;
}

export class TempFile {
  readonly #replaced: Replaced;
  readonly #path: string;
  readonly #handle: FileHandle;
  readonly #hash = createHash("sha256");
  #digest: string | undefined;
  #isOver = false;
  #isPlaced = false;

  private constructor(replaced: Replaced, path: string, handle: FileHandle) {
    this.#replaced = replaced;
    this.#path = path;
    this.#handle = handle;
  }

  /** `before`: what lies at `real` now. The caller ends it with commit or discard. */
  static async create(real: string, before: BigIntStats | undefined): Promise<TempFile> {
    const path = join(dirname(real), tempPrefix(real) + randomBytes(randomChars / 2).toString("hex"));
    // a file that is new anyway takes its mode from the umask
    const mode = before === undefined ? 0o666 : 0o600;
    const handle = await openChecked(path, { flags: O_WRONLY | O_CREAT | O_EXCL, mode }, "Write");
    return new TempFile({ real, before }, path, handle);
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.#hash.update(bytes);
    for (let at = 0; at < bytes.byteLength; )
      at += (await this.#handle.write(bytes, at, bytes.byteLength - at)).bytesWritten;
  }

  /** Of what was written, in hex; nothing is written after it was asked for. */
  get sha256(): string {
    this.#digest ??= this.#hash.digest("hex");
    return this.#digest;
  }

  /**
   * Puts the content in place; the caller holds the lock of the real path. `unchangedSince`: CONFLICT if the file is another
   * than that by now. `mode`: the permission bits it gets, instead of the old file's. On failure nothing but the old file is left.
   */
  async commit(
    unchangedSince?: { stats: BigIntStats | undefined },
    mode: number | null = null,
  ): Promise<{ sha256: string; created: boolean }> {
    try {
      const now = await findFile(this.#replaced.real, "Write");
      await this.#takeModeAndOwner(now ?? this.#replaced.before);
      if (mode !== null) await this.#handle.chmod(mode);
      await this.#handle.sync();
      // a crash in the middle of an overwrite is known by what lies beside the file
      if (now !== undefined && now.nlink > 1n) await syncDirectory(dirname(this.#replaced.real));
      // from here to the rename nothing else of this daemon runs
      const target = this.#checkTarget(unchangedSince);
      if (target !== undefined && target.nlink > 1n) await overwrite(this.#replaced.real, target, this.#path);
      else this.#rename();
      await syncDirectory(dirname(this.#replaced.real));
      return { sha256: this.sha256, created: now === undefined };
    } finally {
      await this.discard();
    }
  }

  /** Idempotent; after commit only the handle is left to close. */
  async discard(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    await this.#handle.close();
    if (!this.#isPlaced) await rm(this.#path, { force: true });
  }

  async #takeModeAndOwner(stats: BigIntStats | undefined): Promise<void> {
    if (stats === undefined) return;
    const [uid, gid] = [Number(stats.uid), Number(stats.gid)];
    const mine = await this.#handle.stat();
    const isKept = (mine.uid === uid && mine.gid === gid) || (await this.#chown(uid, gid));
    // changing the owner clears set-uid, so the mode comes after; with another owner set-uid would mean somebody else
    await this.#handle.chmod(Number(stats.mode) & (isKept ? 0o7777 : 0o777));
  }

  #chown(uid: number, gid: number): Promise<boolean> {
    return this.#handle.chown(uid, gid).then(
      () => true,
      () => false,
    );
  }

  #checkTarget(unchangedSince: { stats: BigIntStats | undefined } | undefined): BigIntStats | undefined {
    const now = lstatSync(this.#replaced.real, { bigint: true, throwIfNoEntry: false });
    if (now !== undefined && !now.isFile())
      throw driverError("Write", "CONFLICT", `is no longer a regular file: ${this.#replaced.real}`);
    if (unchangedSince !== undefined && !isSameState(now, unchangedSince.stats))
      throw driverError("Write", "CONFLICT", `changed meanwhile: ${this.#replaced.real}`);
    return now;
  }

  #rename(): void {
    renameSync(this.#path, this.#replaced.real);
    this.#isPlaced = true;
  }
}

/** Removes what a crash left of writes to `path`, a real path. No write to it may be under way. */
export async function sweepTemp(path: string): Promise<void> {
  for (const temp of await findTemp(path)) await rm(temp, { force: true });
}

/** The new contents of `path`, a real path, that lie beside it. */
export async function findTemp(path: string): Promise<readonly string[]> {
  const prefix = tempPrefix(path);
  const directory = dirname(path);
  const names = await readdir(directory).catch(() => []);
  return names
    .filter((name) => name.startsWith(prefix) && /^[0-9a-f]+$/.test(name.slice(prefix.length)))
    .map((name) => join(directory, name));
}

/** A rename is durable once its directory is. Some file systems cannot sync one; they have done all they can. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, constants.O_RDONLY).catch(() => undefined);
  if (handle === undefined) return;
  await handle.sync().catch(() => {});
  await handle.close();
}

/** A very long name is cut, at a character, so that the temporary one still fits. */
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

/** Old and new content are held in memory, so that a full disk can be undone. */
const maxBytes = 64 * 1024 * 1024;

/**
 * Copies the temporary file over `real`, which is `now`: it has several hard links, and a rename would part it from its other
 * names. A failure puts the old content back.
 */
async function overwrite(real: string, now: BigIntStats, tempPath: string): Promise<void> {
  const next = await readFile(tempPath);
  if (now.size > maxBytes || next.byteLength > maxBytes)
    throw driverError("Write", "INVALID", `has several hard links and is over 64 MiB: ${real}`);
  const old = await readFile(real);
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
