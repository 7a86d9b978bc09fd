/** The tree below a directory, as a person would want to see it: without hidden and git-ignored entries. */
import { type Dirent, existsSync } from "node:fs";
import { lstat, readdir, readFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import ignore, { type Ignore } from "ignore";
import type { FsListing, FsRequest, FsStat } from "../../abi/fs-ops.ts";
import { driverError, throwIfAborted } from "../driver-error.ts";
import { kindOf } from "./stat.ts";

type ListRequest = Extract<FsRequest, { op: "list" }>;

const defaultDepth = 3;
const defaultLimit = 1_000;
/** Entries looked at, shown or not: a listing of `/` must end. What lies beyond is not counted in `more`. */
const maxVisited = 100_000;

/** Patterns of one ignore file and the directory they are relative to. */
interface Rules {
  readonly base: string;
  readonly patterns: Ignore;
}

interface Walk {
  readonly root: string;
  readonly maxDepth: number;
  readonly limit: number;
  readonly request: ListRequest;
  readonly extra: Rules;
  readonly signal: AbortSignal;
  readonly entries: FsListing["entries"];
  visited: number;
  more: number;
}

/** `root` is a real path. NOT_FOUND, INVALID when it is no directory. Links are shown, not followed. */
export async function listTree(root: string, request: ListRequest, signal: AbortSignal): Promise<FsListing> {
  const stats = await lstat(root);
  if (!stats.isDirectory()) throw driverError("Read", "INVALID", `not a directory: ${root}`);
  const walk: Walk = {
    root,
    maxDepth: request.depth ?? defaultDepth,
    limit: request.limit ?? defaultLimit,
    request,
    extra: { base: root, patterns: ignore().add(request.ignore ?? []) },
    signal,
    entries: [],
    visited: 0,
    more: 0,
  };
  await visit(walk, root, 1, request.ignored === true ? [] : await rulesAbove(root));
  return { entries: walk.entries, more: walk.more };
}

async function visit(walk: Walk, directory: string, depth: number, above: readonly Rules[]): Promise<void> {
  const rules = walk.request.ignored === true ? above : [...above, ...(await rulesOf(directory))];
  for (const found of await readSorted(directory, depth === 1)) {
    throwIfAborted(walk.signal, "Read");
    if (walk.visited++ >= maxVisited) return;
    const path = join(directory, found.name);
    if (isLeftOut(walk, path, found, rules)) continue;
    if (walk.entries.length < walk.limit) walk.entries.push(await describe(walk, path, found, depth));
    else walk.more++;
    if (found.isDirectory() && depth < walk.maxDepth) await visit(walk, path, depth + 1, rules);
  }
}

/** Directories first, then by name. Below the root, what may not be read is empty. */
async function readSorted(directory: string, isRoot: boolean): Promise<Dirent[]> {
  const found = await readdir(directory, { withFileTypes: true }).catch((error: unknown) => {
    if (isRoot) throw error;
    return [];
  });
  const rank = (entry: Dirent) => (entry.isDirectory() ? 0 : 1);
  return found.sort((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1));
}

function isLeftOut(walk: Walk, path: string, found: Dirent, rules: readonly Rules[]): boolean {
  if (found.name === ".git") return true;
  if (walk.request.hidden !== true && found.name.startsWith(".")) return true;
  return isIgnored(path, found.isDirectory(), [...rules, walk.extra]);
}

/** The last file that has a say decides, as in git: the nearest one. */
function isIgnored(path: string, isDirectory: boolean, rules: readonly Rules[]): boolean {
  let ignored = false;
  for (const { base, patterns } of rules) {
    const result = patterns.test(relative(base, path) + (isDirectory ? "/" : ""));
    if (result.ignored) ignored = true;
    else if (result.unignored) ignored = false;
  }
  return ignored;
}

async function describe(
  walk: Walk,
  path: string,
  found: Dirent,
  depth: number,
): Promise<FsListing["entries"][number]> {
  const size = await lstat(path).then(
    (stats) => stats.size,
    () => 0,
  );
  const kind: FsStat["kind"] = kindOf(found);
  return { path: relative(walk.root, path), kind, size, depth };
}

/** The ignore files between the top of the repository and `root`. None of them hold inside a directory that is itself ignored: it was asked for. */
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
  if (!stats?.isFile() || stats.size > 1024 * 1024) return [];
  const text = await readFile(file, "utf8").catch(() => "");
  return [{ base, patterns: ignore().add(text) }];
}
