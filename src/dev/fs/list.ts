/** Lists the tree below a directory as a user would want to see it: without hidden and git-ignored entries. */
import { type Dirent, existsSync } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import ignore, { type Ignore } from "ignore";
import type { FsListing, FsRequest } from "../../abi/ops/fs.ts";
import { readRegular } from "../../lib/regular-file.ts";
import { driverError, throwIfAborted } from "../driver-error.ts";
import { Folder } from "../folder.ts";
import { kindOf } from "./stat.ts";

type ListRequest = Extract<FsRequest, { op: "list" }>;

const defaultDepth = 3;
const defaultLimit = 1_000;
/**
 * Bound on the entries visited, shown or not: a listing of `/` must end. Entries beyond it are not counted in `more`.
 */
const maxVisited = 100_000;

/** The patterns of one ignore file and the directory that they are relative to. */
interface Rules {
  readonly base: string;
  readonly patterns: Ignore;
}

/** `root` is a real path. NOT_FOUND: no such entry; INVALID: not a directory. Links are shown, not followed. */
export async function listTree(root: string, request: ListRequest, signal: AbortSignal): Promise<FsListing> {
  const stats = await lstat(root);
  if (!stats.isDirectory()) throw driverError("Read", "INVALID", `not a directory: ${root}`);
  const walk = new Walk(root, request, signal);
  await walk.visit(root, 1, request.ignored === true ? [] : await rulesAbove(root));
  return { entries: walk.entries, more: walk.more };
}

class Walk {
  readonly entries: FsListing["entries"] = [];
  more = 0;
  readonly #root: string;
  readonly #request: ListRequest;
  readonly #signal: AbortSignal;
  readonly #extra: Rules;
  #visited = 0;

  constructor(root: string, request: ListRequest, signal: AbortSignal) {
    this.#root = root;
    this.#request = request;
    this.#signal = signal;
    this.#extra = { base: root, patterns: ignore().add(request.ignore ?? []) };
  }

  async visit(directory: string, depth: number, above: readonly Rules[]): Promise<void> {
    const { ignored, limit = defaultLimit, depth: maxDepth = defaultDepth } = this.#request;
    using folder = folderAt(directory, depth === 1);
    if (folder === undefined) return;
    const rules =
      ignored === true
        ? above
        : [...above, ...(await rulesIn(folder.at(join(directory, ".gitignore")), directory))];
    for (const found of await readSorted(folder.path, depth === 1)) {
      throwIfAborted(this.#signal, "Read");
      if (this.#visited++ >= maxVisited) return;
      const path = join(directory, found.name);
      if (this.#isLeftOut(path, found, rules)) continue;
      if (this.entries.length < limit)
        this.entries.push({
          path: relative(this.#root, path),
          ...(await kindAndSize(folder.at(path), found)),
          depth,
        });
      else this.more++;
      if (found.isDirectory() && depth < maxDepth) await this.visit(path, depth + 1, rules);
    }
  }

  #isLeftOut(path: string, found: Dirent, rules: readonly Rules[]): boolean {
    if (found.name === ".git") return true;
    if (this.#request.hidden !== true && found.name.startsWith(".")) return true;
    return isIgnored(path, found.isDirectory(), [...rules, this.#extra]);
  }
}

/** Below the root, a directory that cannot be opened, or leads elsewhere by now, counts as empty. */
function folderAt(directory: string, isRoot: boolean): Folder | undefined {
  try {
    return Folder.open(directory, "Read");
  } catch (error) {
    if (isRoot) throw error;
    return undefined;
  }
}

/** Directories first, then by name. Below the root, an unreadable directory counts as empty. */
async function readSorted(directory: string, isRoot: boolean): Promise<Dirent[]> {
  const found = await readdir(directory, { withFileTypes: true }).catch((error: unknown) => {
    if (isRoot) throw error;
    return [];
  });
  const rank = (entry: Dirent) => (entry.isDirectory() ? 0 : 1);
  return found.sort((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1));
}

/** The last ignore file with a matching pattern decides, as in git: the nearest one. */
function isIgnored(path: string, isDirectory: boolean, rules: readonly Rules[]): boolean {
  let ignored = false;
  for (const { base, patterns } of rules) {
    const result = patterns.test(relative(base, path) + (isDirectory ? "/" : ""));
    if (result.ignored) ignored = true;
    else if (result.unignored) ignored = false;
  }
  return ignored;
}

async function kindAndSize(
  path: string,
  found: Dirent,
): Promise<Pick<FsListing["entries"][number], "kind" | "size">> {
  const size = await lstat(path).then(
    (stats) => stats.size,
    () => 0,
  );
  return { kind: kindOf(found), size };
}

/**
 * The ignore files between the top of the repository and `root`. None apply if `root` itself is ignored, because it
 * was named explicitly.
 */
async function rulesAbove(root: string): Promise<Rules[]> {
  const above: string[] = [];
  for (let at = root; !existsSync(join(at, ".git")); at = dirname(at)) {
    if (dirname(at) === at) return [];
    above.unshift(dirname(at));
  }
  const top = above[0] ?? root;
  const rules = await rulesIn(join(top, ".git", "info", "exclude"), top);
  for (const directory of above) rules.push(...(await rulesOf(directory)));
  return root !== top && isIgnored(root, true, rules) ? [] : rules;
}

function rulesOf(directory: string): Promise<Rules[]> {
  return rulesIn(join(directory, ".gitignore"), directory);
}

async function rulesIn(file: string, base: string): Promise<Rules[]> {
  const stats = await lstat(file).catch(() => undefined);
  if (!stats?.isFile()) return [];
  const text = await readRegular(file, 1024 * 1024).then(String, () => "");
  return [{ base, patterns: ignore().add(text) }];
}
