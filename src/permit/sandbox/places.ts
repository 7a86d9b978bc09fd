/**
 * Finds protected files without a fixed place: `.env`, `*.pem`, the `.git` of a nested repository. They are searched
 * for below the writable roots within bounds, upper directories first, then the oldest: so no number of directories that a
 * program makes keeps one from being searched that was there before. Deeper files, and files in directories that are
 * skipped, are not found. A directory is read again when it has changed.
 */
import { type Dirent, lstatSync, readdirSync, realpathSync, type Stats } from "node:fs";
import { join } from "node:path/posix";
import { isWithin } from "../../lib/path.ts";
import { SYSTEM } from "../judge/other-names.ts";
import { isInsideAny } from "../rules/paths.ts";

interface SensitivePlace {
  /** Of a secret that is a link, what it leads to: no mount can cover a link. */
  readonly path: string;
  readonly isDirectory: boolean;
  readonly kind: "secret" | "protected";
}

/** Classifies a path; for a directory, whether what is below it is protected. */
export type Classify = (path: string, isDirectory: boolean) => SensitivePlace["kind"] | null;

interface Below {
  readonly path: string;
  /** No program can choose it. */
  readonly bornMs: number;
}

interface Waiting extends Below {
  readonly depth: number;
}

/** Puts one in its order, at `from` or behind it. */
type Add = (waiting: Waiting[], each: Waiting, from: number) => void;

interface Folder {
  readonly changed: string;
  /** Beyond the bound only the oldest. */
  readonly below: readonly Below[];
  readonly found: readonly SensitivePlace[];
  /** Secrets that are links. */
  readonly links: readonly string[];
}

/** Bounds for one root, on the search from above and on that of the oldest. */
const maxFolders = 1_000;
const maxFound = 200;
const maxDepth = 8;
/** Bound on the protected places of one directory, which are mounts each; of secrets the whole directory is hidden. */
const maxProtected = 200;
/** Bound on the entries that are searched for a second name. */
const maxNames = 20_000;
/** The bound for all roots; the cache is emptied when it is full. */
const maxCached = 4_000;
const UNREAD = new Set(["node_modules", ".git", ".hg", ".svn", ".venv", "__pycache__", ".cache", "target"]);

export class PlaceFinder {
  readonly #classify: Classify;
  readonly #folders = new Map<string, Folder>();

  constructor(classify: Classify) {
    this.#classify = classify;
  }

  find(root: string): readonly SensitivePlace[] {
    const found: SensitivePlace[] = [];
    const all: Waiting[] = [{ path: root, bornMs: 0, depth: 1 }];
    const left = this.#search(all, found, (waiting, each) => waiting.push(each));
    if (left.length > 0) this.#search(oldest(left), found, insert);
    return found.filter(({ path }) => !isWithin(path, root));
  }

  /** Adds what it finds until a bound is reached; returns the directories that are left. */
  #search(waiting: Waiting[], found: SensitivePlace[], add: Add): readonly Waiting[] {
    const mostFound = found.length + maxFound;
    let n = 0;
    for (; n < Math.min(waiting.length, maxFolders) && found.length < mostFound; n++) {
      const { path, depth } = waiting[n] as Waiting;
      const { below, found: here, links } = this.#look(path);
      found.push(...here, ...links.flatMap(targetOf));
      if (depth < maxDepth) for (const each of below) add(waiting, { ...each, depth: depth + 1 }, n + 1);
    }
    return waiting.slice(n);
  }

  #look(dir: string): Folder {
    const changed = stampOf(dir);
    const kept = this.#folders.get(dir);
    if (kept?.changed === changed) return kept;
    if (this.#folders.size >= maxCached) this.#folders.clear();
    const folder = { changed, ...this.#read(dir) };
    this.#folders.set(dir, folder);
    return folder;
  }

  #read(dir: string): Omit<Folder, "changed"> {
    const found: SensitivePlace[] = [];
    const below: Below[] = [];
    const links: string[] = [];
    let guarded = 0;
    for (const entry of entriesOf(dir)) {
      const path = join(dir, entry.name);
      const isDirectory = entry.isDirectory();
      const kind = this.#classify(path, isDirectory);
      if (kind === "secret" && entry.isSymbolicLink()) links.push(path);
      else if (kind === "secret" || (kind === "protected" && guarded++ < maxProtected))
        found.push({ path, isDirectory, kind });
      if (isDirectory && !UNREAD.has(entry.name) && kind !== "secret")
        below.push({ path, bornMs: findFile(path)?.birthtimeMs ?? Number.POSITIVE_INFINITY });
    }
    return { found, below: below.length > maxFolders ? oldest(below) : below, links };
  }
}

/** So many as a search can look at, sorted. */
function oldest<T extends Below>(all: readonly T[]): T[] {
  return all.toSorted((a, b) => a.bornMs - b.bornMs).slice(0, maxFolders);
}

/** Keeps them sorted, and no more than a search can look at. */
const insert: Add = (waiting, each, from) => {
  let [low, high] = [from, waiting.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((waiting[middle] as Waiting).bornMs <= each.bornMs) low = middle + 1;
    else high = middle;
  }
  waiting.splice(low, 0, each);
  if (waiting.length > maxFolders) waiting.pop();
};

/** Not of a link to what every program needs. */
function targetOf(link: string): readonly SensitivePlace[] {
  try {
    const path = realpathSync(link);
    if (isInsideAny(SYSTEM, path)) return [];
    return [{ path, isDirectory: lstatSync(path).isDirectory(), kind: "secret" }];
  } catch {
    return [];
  }
}

function entriesOf(dir: string): readonly Dirent[] {
  try {
    return readdirSync(dir, { withFileTypes: true });
  } catch {
    return [];
  }
}

function stampOf(dir: string): string {
  try {
    const { ino, mtimeNs, ctimeNs } = lstatSync(dir, { bigint: true });
    return `${ino} ${mtimeNs} ${ctimeNs}`;
  } catch {
    return "";
  }
}

/**
 * Another name (hard link) of the file below the roots, which a mount over the first name would not cover; `unknown`:
 * too many entries to search.
 */
export function findSecondName(
  path: string,
  roots: readonly string[],
): { readonly kind: "none" | "unknown" } | { readonly kind: "name"; readonly path: string } {
  const file = findFile(path.replace(/\/$/, ""));
  if (file === undefined || !file.isFile() || file.nlink < 2) return { kind: "none" };
  let left = maxNames;
  const dirs = [...roots];
  for (let dir = dirs.pop(); dir !== undefined; dir = dirs.pop()) {
    for (const entry of entriesOf(dir)) {
      if (left-- === 0) return { kind: "unknown" };
      const each = join(dir, entry.name);
      if (entry.isDirectory()) dirs.push(each);
      if (!entry.isFile() || each === path) continue;
      const stat = findFile(each);
      if (stat?.ino === file.ino && stat.dev === file.dev) return { kind: "name", path: each };
    }
  }
  return { kind: "none" };
}

/** undefined: the file does not exist or cannot be inspected. */
function findFile(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
