/**
 * A directory held open. What is done at its names is done in it, whatever has become of its path by then: between the
 * moment a path was permitted and the call on it, a program of the agent may put a link in the place of any directory.
 * Where the host has no names for what is open (no /proc), the path is used again.
 */
import { closeSync, constants, lstatSync, mkdirSync, openSync, readlinkSync } from "node:fs";
import { open } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { driverError, type FileOp } from "./driver-error.ts";

/** linux/fcntl.h. A folder that may not be read is opened as well. */
const O_PATH = 0x20_0000;

/** The folder at this path, not the target of a link. Throws what the system says. */
export function openFolder(path: string): number {
  return openSync(path, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
}

export class Folder implements Disposable {
  readonly real: string;
  #fd: number | null;

  private constructor(real: string, fd: number | null) {
    this.real = real;
    this.#fd = fd;
  }

  /** `real`: its links are resolved. CONFLICT: it leads elsewhere by now. Throws what the system says. */
  static open(real: string, op: FileOp): Folder {
    if (process.platform !== "linux") return new Folder(real, null);
    const fd = opened(real, op);
    const lies = placeOf(fd);
    if (lies === real) return new Folder(real, fd);
    closeSync(fd);
    if (lies === undefined) return new Folder(real, null);
    throw moved(real, op);
  }

  /** The folder that holds the entry at a real path. */
  static of(real: string, op: FileOp): Folder {
    return Folder.open(dirname(real), op);
  }

  /** A path of the folder itself. */
  get path(): string {
    return this.#fd === null ? this.real : `/proc/self/fd/${this.#fd}`;
  }

  /** The path of the entry with the name of this one: `real` lies in the folder. */
  at(real: string): string {
    return this.#fd === null ? real : `${this.path}/${basename(real)}`;
  }

  /** CONFLICT: its path leads elsewhere than when it was opened. */
  check(op: FileOp): void {
    if (this.#fd !== null && placeOf(this.#fd) !== this.real) throw moved(this.real, op);
  }

  /** Makes what was done to its names durable. Some file systems cannot sync a directory; that is ignored. */
  async sync(): Promise<void> {
    const handle = await open(this.path, constants.O_RDONLY).catch(() => undefined);
    if (handle === undefined) return;
    await handle.sync().catch(() => {});
    await handle.close();
  }

  [Symbol.dispose](): void {
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
  }
}

/** Creates the missing directories above a real path; returns those created, the outermost first. */
export function makeParents(real: string): readonly string[] {
  const missing: string[] = [];
  let there = dirname(real);
  for (; lstatSync(there, { throwIfNoEntry: false }) === undefined; there = dirname(there))
    missing.unshift(there);
  for (const path of missing) {
    using folder = Folder.of(path, "Write");
    makeUnlessThere(folder.at(path));
  }
  return missing;
}

export function moved(real: string, op: FileOp): Error {
  return driverError(op, "CONFLICT", `the path leads elsewhere than a moment ago: ${real}`);
}

/** Where an open file lies; undefined: the host cannot tell. */
export function placeOf(fd: number): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return undefined;
  }
}

function opened(real: string, op: FileOp): number {
  try {
    return openFolder(real);
  } catch (error) {
    // a link has taken its place
    if (lstatSync(real, { throwIfNoEntry: false })?.isSymbolicLink() === true) throw moved(real, op);
    throw error;
  }
}

function makeUnlessThere(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
