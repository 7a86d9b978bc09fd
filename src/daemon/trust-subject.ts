/** Which workspace a word of trust is about, and for how long it can hold. */
import { lstatSync, readFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { RealPath } from "../kernel/ports/host.ts";
import { isWithin } from "../lib/path.ts";

/** A name there is anybody's, today and tomorrow. */
const TEMPORARY = ["/tmp", "/var/tmp", "/dev/shm"];

const MAX_MARK_BYTES = 8192;

export interface SubjectOptions {
  readonly home: string;
  readonly realPath: RealPath;
  /** Of the daemon's environment; absent: the usual ones alone. */
  readonly tmpDir?: string | undefined;
}

/** `/`, the home directory and what holds it, and what is temporary: trust there ends with who works there. */
export function isSessionOnly(root: string, { home, realPath, tmpDir }: SubjectOptions): boolean {
  if (isWithin(root, realPath(home))) return true;
  const places = tmpDir?.startsWith("/") === true ? [...TEMPORARY, tmpDir] : TEMPORARY;
  return places.some((place) => isWithin(realPath(place), root));
}

/**
 * The main repository of a git worktree; null: it is none. The directory's own word is not taken for it: the folder that it
 * names must lie among the worktrees of the repository, and name the directory in turn (gitrepository-layout(5)).
 */
export function mainOf(root: string, realPath: RealPath): string | null {
  const mark = join(root, ".git");
  const named = /^gitdir: (.+)/.exec(firstLine(mark))?.[1];
  if (named === undefined) return null;
  const own = realPath(resolve(root, named.trim()));
  const [common, back] = [firstLine(join(own, "commondir")), firstLine(join(own, "gitdir"))];
  if (common === "" || back === "" || realPath(resolve(own, back)) !== realPath(mark)) return null;
  const git = realPath(resolve(own, common));
  if (basename(git) !== ".git" || dirname(own) !== join(git, "worktrees")) return null;
  return dirname(git);
}

/** "": there is none. No link is followed: `.git` of a worktree is none. */
function firstLine(file: string): string {
  try {
    const stats = lstatSync(file);
    if (!stats.isFile() || stats.size > MAX_MARK_BYTES) return "";
    return readFileSync(file, "utf8").split("\n")[0]?.trim() ?? "";
  } catch {
    return "";
  }
}
