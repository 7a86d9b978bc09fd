/** The workspace that a decision of trust applies to, and how long it can last. */
import { lstatSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { RealPath } from "../../kernel/ports/host.ts";
import { isWithin } from "../../lib/path.ts";
import { readRegularSync } from "../../lib/regular-file.ts";

/** Anyone may use a name there, now or later. */
const TEMPORARY = ["/tmp", "/var/tmp", "/dev/shm"];

const MAX_MARK_BYTES = 8192;

export interface SubjectOptions {
  readonly home: string;
  readonly realPath: RealPath;
  /** TMPDIR of the daemon's environment; absent: only the usual directories count. */
  readonly tmpDir?: string | undefined;
}

/** Whether trust ends with the session: for the home directory and those above it, and for temporary directories. */
export function isSessionOnly(root: string, { home, realPath, tmpDir }: SubjectOptions): boolean {
  if (isWithin(root, realPath(home))) return true;
  const places = tmpDir?.startsWith("/") === true ? [...TEMPORARY, tmpDir] : TEMPORARY;
  return places.some((place) => isWithin(realPath(place), root));
}

/**
 * The main repository of a git worktree; null: not a worktree. The directory's own claim is not enough: the folder that
 * it names must be among the worktrees of the repository, and must name the directory in turn
 * (gitrepository-layout(5)).
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

/** The first line of a file; "": no such file. No link is followed: the `.git` of a worktree is not a link. */
function firstLine(file: string): string {
  try {
    if (lstatSync(file).isSymbolicLink()) return "";
    return readRegularSync(file, MAX_MARK_BYTES).toString("utf8").split("\n")[0]?.trim() ?? "";
  } catch {
    return "";
  }
}
