/**
 * Caches what was loaded from files until one of them changes: a spawn compares a few modification times and sizes
 * instead of reading the files, and all processes of an agent share its texts.
 */
import type { AgentFiles } from "./files.ts";

export interface StampedFiles extends AgentFiles {
  /**
   * A value that changes when the file or directory is changed, created or removed. Sync: a spawn calls it a dozen
   * times.
   */
  stamp(path: string): string;
}

interface Kept<T> {
  readonly loaded: T;
  /** The stamp of each path that was accessed, whether it exists or not. */
  readonly stamps: ReadonlyMap<string, string>;
}

interface CacheOptions<T> {
  /** Beyond this, what was loaded longest ago is dropped. */
  readonly most: number;
  /** Whether it depends on these files alone; absent: it does. */
  readonly mayKeep?: (loaded: T) => boolean;
}

export class DefinitionCache<T> {
  readonly #files: StampedFiles;
  readonly #options: CacheOptions<T>;
  readonly #kept = new Map<string, Kept<T>>();

  constructor(files: StampedFiles, options: CacheOptions<T>) {
    this.#files = files;
    this.#options = options;
  }

  /** `load` must access files only through its argument. */
  async load(key: string, load: (files: AgentFiles) => Promise<T>): Promise<T> {
    const { most, mayKeep = () => true } = this.#options;
    const kept = this.#kept.get(key);
    if (kept !== undefined && this.#isFresh(kept)) return kept.loaded;
    this.#kept.delete(key);
    const stamps = new Map<string, string>();
    const loaded = await load(this.#recording(stamps));
    if (!mayKeep(loaded)) return loaded;
    const [oldest] = this.#kept.keys();
    if (this.#kept.size >= most && oldest !== undefined) this.#kept.delete(oldest);
    this.#kept.set(key, { loaded, stamps });
    return loaded;
  }

  #isFresh({ stamps }: Kept<T>): boolean {
    for (const [path, stamp] of stamps) if (this.#files.stamp(path) !== stamp) return false;
    return true;
  }

  /** The stamp is taken before the access, so that a change in between is noticed at the next load. */
  #recording(stamps: Map<string, string>): AgentFiles {
    const files = this.#files;
    const seen = (path: string): string => {
      if (!stamps.has(path)) stamps.set(path, files.stamp(path));
      return path;
    };
    return {
      readText: (path) => files.readText(seen(path)),
      list: (dir) => files.list(seen(dir)),
      realPath: (path) => files.realPath(seen(path)),
    };
  }
}
