/**
 * A folder for each session that has one, for all of its agents: `<root>/<uuid of the session>`, 0700. The policy recognises
 * it by its path. What programs write there is measured before the next command; what Crux writes, before it counts.
 */
import { lstatSync } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { ProcUuid } from "../../abi/ids.ts";
import type { Scratchpads } from "../../kernel/ports/scratchpads.ts";
import { isWithin } from "../../lib/path.ts";
import { driverError, errnoOf } from "../driver-error.ts";
import { ScratchStore } from "./scratch.ts";

/** Beyond one of them nothing more is written (BUDGET). */
const MAX_BYTES = 256 * 1024 * 1024;
const MAX_ENTRIES = 10_000;

interface Size {
  readonly bytes: number;
  readonly entries: number;
}

interface Options {
  readonly isForAll: () => boolean;
  readonly warn: (line: string) => void;
  readonly max?: Size;
}

export class ScratchpadStore implements Scratchpads {
  readonly #store: ScratchStore;
  readonly #options: Options;
  readonly #max: Size;
  /** Sessions whose first process is gone while others of them still run. */
  readonly #ended = new Set<ProcUuid>();

  constructor(root: string, options: Options) {
    this.#store = new ScratchStore(root);
    this.#options = options;
    this.#max = options.max ?? { bytes: MAX_BYTES, entries: MAX_ENTRIES };
  }

  isForAll(): boolean {
    return this.#options.isForAll();
  }

  open(session: ProcUuid): string | null {
    try {
      return this.#store.scratchDir(session);
    } catch (error) {
      if (errnoOf(error) === undefined) throw error;
      this.#options.warn(`no scratchpad for session ${session}: ${String(error)}`);
      return null;
    }
  }

  find(session: ProcUuid): string | null {
    const path = this.#store.pathOf(session);
    return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true ? path : null;
  }

  async full(path: string): Promise<string | null> {
    return this.#over(path, await sizeOf(path, this.#max));
  }

  /**
   * For a change within a scratchpad that is about to be put in place: `less` is what goes with it. BUDGET: the scratchpad
   * would hold too much.
   */
  async checkRoom(real: string, less: Size = { bytes: 0, entries: 0 }): Promise<void> {
    const { root } = this.#store;
    if (!isWithin(root, real) || real === root) return;
    const path = join(root, real.slice(root.length + 1).split("/", 1)[0] ?? "");
    const max = { bytes: this.#max.bytes + less.bytes, entries: this.#max.entries + less.entries };
    const { bytes, entries } = await sizeOf(path, max);
    const words = this.#over(path, { bytes: bytes - less.bytes, entries: entries - less.entries });
    if (words !== null) throw driverError("Write", "BUDGET", words);
  }

  /** Call when a process is gone; `isUsed` tells whether another one of that session is left. */
  async released(uuid: ProcUuid, isUsed: (session: ProcUuid) => boolean): Promise<void> {
    if (this.find(uuid) !== null) this.#ended.add(uuid);
    for (const session of [...this.#ended].filter((each) => !isUsed(each))) {
      this.#ended.delete(session);
      await this.#store.remove(session);
    }
  }

  #over(path: string, { bytes, entries }: Size): string | null {
    const max = this.#max;
    if (bytes <= max.bytes && entries <= max.entries) return null;
    const what = bytes > max.bytes ? `${Math.floor(max.bytes / 1024 ** 2)} MiB` : `${max.entries} files`;
    return `the scratchpad ${path} may hold ${what}: remove files there first`;
  }
}

/** Counts until it is more than `most`. Links are counted and not followed. */
async function sizeOf(dir: string, most: Size): Promise<Size> {
  let [bytes, entries] = [0, 0];
  const dirs = [dir];
  for (let next = dirs.pop(); next !== undefined; next = dirs.pop()) {
    for (const entry of await namesIn(next)) {
      const path = join(next, entry.name);
      entries++;
      if (entry.isDirectory()) dirs.push(path);
      else bytes += await bytesOf(path);
      if (bytes > most.bytes || entries > most.entries) return { bytes, entries };
    }
  }
  return { bytes, entries };
}

/** What is removed while it is counted counts nothing. */
const namesIn = (dir: string) => readdir(dir, { withFileTypes: true }).catch(unlessGone([]));
const bytesOf = (path: string) =>
  lstat(path)
    .then(({ size }) => size)
    .catch(unlessGone(0));

function unlessGone<T>(nothing: T): (error: unknown) => T {
  return (error) => {
    if (errnoOf(error) === "ENOENT" || errnoOf(error) === "ENOTDIR" || errnoOf(error) === "EACCES")
      return nothing;
    throw error;
  };
}
