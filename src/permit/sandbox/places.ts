/**
 * Finds protected files without a fixed place: `.env`, `*.pem`, the `.git` of a nested repository. They are searched
 * for below the writable roots, upper directories first, within bounds; deeper files, and files in directories that are
 * skipped, are not found. A directory is read again when it has changed.
 */
import { type Dirent, lstatSync, readdirSync, type Stats } from "node:fs";
import { join } from "node:path/posix";

interface SensitivePlace {
  readonly path: string;
  readonly isDirectory: boolean;
  readonly kind: "secret" | "protected";
}

/** Classifies a path; for a directory, whether what is below it is protected. */
export type Classify = (path: string, isDirectory: boolean) => SensitivePlace["kind"] | null;

interface Folder {
  readonly changed: string;
  readonly below: readonly string[];
  readonly found: readonly SensitivePlace[];
}

/** Bounds for one root. */
const maxFolders = 1_000;
const maxNames = 20_000;
const maxDepth = 8;
const maxFound = 200;
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
    let names = 0;
    let level = [root];
    let folders = 0;
    for (let depth = 0; depth < maxDepth && level.length > 0; depth++) {
      const next: string[] = [];
      for (const dir of level) {
        if (folders++ >= maxFolders || names >= maxNames || found.length >= maxFound) return found;
        const folder = this.#look(dir);
        names += folder.below.length + folder.found.length;
        found.push(...folder.found);
        next.push(...folder.below);
      }
      level = next;
    }
    return found.slice(0, maxFound);
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

  #read(dir: string): Pick<Folder, "below" | "found"> {
    const found: SensitivePlace[] = [];
    const below: string[] = [];
    for (const entry of entriesOf(dir)) {
      const path = join(dir, entry.name);
      const isDirectory = entry.isDirectory();
      const kind = this.#classify(path, isDirectory);
      if (kind !== null) found.push({ path, isDirectory, kind });
      if (isDirectory && !UNREAD.has(entry.name) && kind !== "secret") below.push(path);
    }
    return { found, below };
  }
}

function entriesOf(dir: string): readonly Dirent[] {
  try {
    return readdirSync(dir, { withFileTypes: true }).slice(0, maxNames);
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
