/** The repository of a working tree whose `.git` lies elsewhere: a worktree commits to it. */
import { existsSync, lstatSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path/posix";
import { readRegularSync } from "../../lib/regular-file.ts";

interface Repository {
  /** The worktree's own git directory and the one common to all worktrees; real paths. */
  readonly gitDirs: readonly string[];
}

const maxBytes = 4096;

/**
 * undefined: no repository, or `.git` is a directory. A repository must point back to the worktree and must name as its
 * common directory the one that contains it, which must be a git directory, since these are opened for writing.
 */
export function repositoryOf(root: string): Repository | undefined {
  const pointer = join(root, ".git");
  try {
    if (lstatSync(pointer, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
    const [, to] = /^gitdir: (.+)$/m.exec(lineOf(pointer)) ?? [];
    if (to === undefined) return undefined;
    const gitDir = realpathSync(resolve(root, to));
    if (realpathSync(lineOf(join(gitDir, "gitdir"))) !== realpathSync(pointer)) return undefined;
    const common = realpathSync(resolve(gitDir, lineOf(join(gitDir, "commondir"))));
    if (!["HEAD", "objects", "refs"].every((name) => existsSync(join(common, name)))) return undefined;
    return dirname(gitDir) === join(common, "worktrees") ? { gitDirs: [gitDir, common] } : undefined;
  } catch {
    return undefined;
  }
}

function lineOf(path: string): string {
  return readRegularSync(path, maxBytes).toString("utf8").trim();
}
