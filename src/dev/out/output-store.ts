/**
 * Outputs that are too long for memory or for a model: `<outputs>/<process uuid>/<name>`, visible to its process as
 * /var/out/<name>. A file holds 64 MiB and drops the rest; a process has 1 GiB, and its oldest files are removed when
 * it needs more.
 */
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { CallId, ProcUuid } from "../../abi/ids.ts";
import { driverError, type FileOp } from "../driver-error.ts";

export const OUT_MOUNT = "/var/out";

export const MAX_FILE_BYTES = 64 * 1024 * 1024;

export interface OutputLimits {
  readonly fileBytes: number;
  readonly processBytes: number;
}

/**
 * Bound on the processes whose file lists stay in memory, besides those being written; others are read from the disk
 * again.
 */
const MAX_SHELVES = 256;

const defaultLimits: OutputLimits = { fileBytes: MAX_FILE_BYTES, processBytes: 1024 * 1024 * 1024 };

/**
 * A file being written. Bytes go to the host's page cache at once: nothing is queued in memory, and the order is
 * kept.
 */
export interface OutputFile {
  /** `/var/out/<name>` */
  readonly path: string;
  /** Bytes stored so far. */
  readonly bytes: number;
  /** Bytes dropped because the file or the disk was full. */
  readonly droppedBytes: number;
  write(chunk: Uint8Array): void;
  /** Ends the file and keeps it. Idempotent, like discard; only the first call of either has an effect. */
  end(): void;
  discard(): void;
}

interface Entry {
  bytes: number;
  isOpen: boolean;
}

/** The files of one process, in the order of their creation. */
interface Shelf {
  readonly directory: string;
  readonly entries: Map<string, Entry>;
  totalBytes: number;
}

export class OutputStore {
  readonly #root: string;
  readonly #limits: OutputLimits;
  /**
   * The files of processes that wrote or read since the daemon started, least recently used first. `remove` deletes
   * an entry; at the bound the first is dropped, because an idle process may never return.
   */
  readonly #shelves = new Map<ProcUuid, Shelf>();

  /** Creates `root`, accessible to the user only. */
  constructor(root: string, limits: OutputLimits = defaultLimits) {
    mkdirSync(root, { recursive: true, mode: 0o700 });
    this.#root = realpathSync(root);
    this.#limits = limits;
  }

  /** The number of processes whose file lists are in memory. */
  get size(): number {
    return this.#shelves.size;
  }

  /** A new file, named after the call; `<call>-2` and so on if that name is taken. */
  openOutput(uuid: ProcUuid, callId: CallId): OutputFile {
    const shelf = this.#shelf(uuid, "Write");
    const base = checkName(callId, "Write");
    let name: string = base;
    for (let n = 2; shelf.entries.has(name); n++) name = `${base}-${n}`;
    return this.#create(shelf, name, () => {});
  }

  /**
   * A file that appears under `name` only when it is ended, unless a file that is at least as long exists by then:
   * that one is kept.
   */
  openWhole(uuid: ProcUuid, name: string): OutputFile {
    const shelf = this.#shelf(uuid, "Open");
    const hidden = `.${checkName(name, "Open")}`;
    if (shelf.entries.has(hidden))
      throw driverError("Open", "CONFLICT", `is being written: ${OUT_MOUNT}/${name}`);
    return this.#create(shelf, hidden, () => place(shelf, hidden, name));
  }

  /** The host path of a file. NOT_FOUND: no such output. */
  hostPath(uuid: ProcUuid, name: string, op: FileOp): string {
    const shelf = this.#shelf(uuid, op);
    if (shelf.entries.has(checkName(name, op))) return join(shelf.directory, name);
    const kept = "outputs go with their process, the oldest when they exceed 1 GiB";
    throw driverError(op, "NOT_FOUND", `output not found: ${OUT_MOUNT}/${name} (${kept})`);
  }

  list(uuid: ProcUuid): { name: string; size: number }[] {
    const { entries } = this.#shelf(uuid, "Open");
    return [...entries]
      .filter(([name]) => !name.startsWith("."))
      .map(([name, { bytes }]) => ({ name, size: bytes }));
  }

  /** Removes all outputs of a process. Idempotent. */
  async remove(uuid: ProcUuid): Promise<void> {
    this.#shelves.delete(uuid);
    await rm(join(this.#root, checkName(uuid, "Close")), { recursive: true, force: true });
  }

  #shelf(uuid: ProcUuid, op: FileOp): Shelf {
    const shelf = this.#shelves.get(uuid) ?? loadShelf(join(this.#root, checkName(uuid, op)));
    this.#shelves.delete(uuid);
    for (const [oldest, { entries }] of this.#shelves) {
      if (this.#shelves.size < MAX_SHELVES) break;
      if (![...entries.values()].some(({ isOpen }) => isOpen)) this.#shelves.delete(oldest);
    }
    this.#shelves.set(uuid, shelf);
    return shelf;
  }

  #create(shelf: Shelf, name: string, onEnd: () => void): OutputFile {
    mkdirSync(shelf.directory, { recursive: true, mode: 0o700 });
    const file = join(shelf.directory, name);
    const fd = openSync(file, "wx", 0o600);
    const entry: Entry = { bytes: 0, isOpen: true };
    shelf.entries.set(name, entry);
    let droppedBytes = 0;
    const over = (): boolean => {
      if (!entry.isOpen) return false;
      entry.isOpen = false;
      closeSync(fd);
      return true;
    };
    return {
      path: `${OUT_MOUNT}/${name.replace(/^\./, "")}`,
      get bytes() {
        return entry.bytes;
      },
      get droppedBytes() {
        return droppedBytes;
      },
      write: (chunk) => {
        const room = entry.isOpen ? this.#makeRoom(shelf, entry, chunk.byteLength) : 0;
        const written = writeAll(fd, chunk.subarray(0, room));
        droppedBytes += chunk.byteLength - written;
        entry.bytes += written;
        shelf.totalBytes += written;
      },
      end: () => {
        if (over()) onEnd();
      },
      discard: () => {
        if (over()) drop(shelf, name);
      },
    };
  }

  /** How many of the `wanted` bytes fit, after removing the oldest files. */
  #makeRoom(shelf: Shelf, entry: Entry, wanted: number): number {
    const inFile = Math.min(wanted, this.#limits.fileBytes - entry.bytes);
    for (const [name, { isOpen }] of shelf.entries) {
      if (shelf.totalBytes + inFile <= this.#limits.processBytes) break;
      if (!isOpen) drop(shelf, name);
    }
    return Math.max(0, Math.min(inFile, this.#limits.processBytes - shelf.totalBytes));
  }
}

/** The files that an earlier daemon stored, oldest first; unfinished ones are removed. */
function loadShelf(directory: string): Shelf {
  const shelf: Shelf = { directory, entries: new Map(), totalBytes: 0 };
  const found = readdirOrNone(directory).map((name) => ({ name, stats: statSync(join(directory, name)) }));
  for (const { name, stats } of found.sort((a, b) => a.stats.mtimeMs - b.stats.mtimeMs)) {
    shelf.entries.set(name, { bytes: stats.size, isOpen: false });
    shelf.totalBytes += stats.size;
    if (name.startsWith(".")) drop(shelf, name);
  }
  return shelf;
}

function place(shelf: Shelf, hidden: string, name: string): void {
  const fresh = shelf.entries.get(hidden);
  const old = shelf.entries.get(name);
  if (fresh === undefined) return;
  if (old !== undefined) {
    const isOldKept = old.isOpen || old.bytes >= fresh.bytes;
    drop(shelf, isOldKept ? hidden : name);
    if (isOldKept) return;
  }
  renameSync(join(shelf.directory, hidden), join(shelf.directory, name));
  shelf.entries.delete(hidden);
  shelf.entries.set(name, fresh);
}

function drop(shelf: Shelf, name: string): void {
  rmSync(join(shelf.directory, name), { force: true });
  shelf.totalBytes -= shelf.entries.get(name)?.bytes ?? 0;
  shelf.entries.delete(name);
}

/** A full disk must not end the run whose output this is: bytes that were not written count as dropped. */
function writeAll(fd: number, bytes: Uint8Array): number {
  let at = 0;
  try {
    while (at < bytes.byteLength) at += writeSync(fd, bytes, at);
  } catch {
    // the caller counts the missing bytes
  }
  return at;
}

function checkName<T extends string>(name: T, op: FileOp): T {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(name)) return name;
  throw driverError(op, "NOT_FOUND", `output not found: ${OUT_MOUNT}/${name}`);
}

function readdirOrNone(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
