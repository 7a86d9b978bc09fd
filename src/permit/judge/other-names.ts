/**
 * Hard links: a write through one name of a file changes it under all its names. If a file has several, the protected
 * places are searched for it. System directories are left out: only root can link to files there.
 */
import { type BigIntStats, type Dirent, lstatSync, readdirSync } from "node:fs";
import { posix } from "node:path";
import { isInsideAny } from "../rules/paths.ts";
import { findProtection, findProtectionBelow, type Protection } from "../rules/protected.ts";
import type { OtherNames } from "./case.ts";

/** Entries inspected for one file. Beyond this bound the file counts as protected and the user is asked. */
const MAX_LOOKED = 20_000;
const MAX_DEPTH = 12;
/** Where the programs of the machine are. */
export const SYSTEM: readonly string[] = "/etc /usr /boot /bin /sbin /lib /lib64 /opt /proc /sys /dev".split(
  " ",
);

interface ProtectedPlaces {
  readonly home: string;
  readonly kernel: readonly string[];
  readonly protections: readonly Protection[];
}

/** `path` has its links resolved; protected names are searched just below `roots` and below the home directory. */
export function findOtherNames(places: ProtectedPlaces, path: string, roots: readonly string[]): OtherNames {
  const file = statOf(path);
  if (file === undefined || !file.isFile() || file.nlink < 2n) return "none";
  const search = new Search(file);
  if (places.kernel.some((dir) => search.finds(dir, () => "counts"))) return "kernel";
  const rate = rater(places.protections);
  const found = [...new Set([...roots, places.home])].some((dir) => search.finds(dir, rate));
  return found || search.isCut ? "protected" : "none";
}

/**
 * Whether the file is one of Crux itself, of those that lie in the first or second folder of its places: the locks, the journal, the
 * keys. Opening a lock in the daemon and closing it again would drop it.
 */
export function isKernelFile(kernel: readonly string[], path: string): boolean {
  const file = statOf(path);
  if (file === undefined || !file.isFile() || file.nlink < 2n) return false;
  const search = new Search(file);
  return kernel.some((dir) => search.finds(dir, () => "counts", MAX_DEPTH - 1));
}

/** `counts`: the path is protected; `leads`: something below it may be. */
type Rate = (path: string) => "counts" | "leads" | "neither";

function rater(protections: readonly Protection[]): Rate {
  return (path) => {
    if (isInsideAny(SYSTEM, path)) return "neither";
    if (findProtection(protections, "write", path) !== undefined) return "counts";
    return findProtectionBelow(protections, path) === undefined ? "neither" : "leads";
  };
}

/** The search for one file; the bound on entries holds for all places together. */
class Search {
  readonly #file: BigIntStats;
  #left = MAX_LOOKED;

  constructor(file: BigIntStats) {
    this.#file = file;
  }

  get isCut(): boolean {
    return this.#left <= 0;
  }

  finds(dir: string, rate: Rate, depth = 0): boolean {
    if (depth > MAX_DEPTH) return false;
    return entriesOf(dir).some((entry) => {
      if (this.#left-- <= 0) return false;
      const path = posix.join(dir, entry.name);
      const rating = rate(path);
      if (rating === "neither") return false;
      if (entry.isDirectory()) return this.finds(path, rate, depth + 1);
      return rating === "counts" && isSame(this.#file, statOf(path));
    });
  }
}

function isSame(file: BigIntStats, other: BigIntStats | undefined): boolean {
  return other !== undefined && other.ino === file.ino && other.dev === file.dev;
}

function statOf(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function entriesOf(dir: string): readonly Dirent[] {
  try {
    return readdirSync(dir, { withFileTypes: true });
  } catch {
    return [];
  }
}
