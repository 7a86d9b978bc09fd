/** The repository of a working tree that has its `.git` elsewhere: a worktree, which commits there. */
import { lstatSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path/posix";

interface Repository {
  /** Its own git directory and that of all worktrees; real paths. */
  readonly gitDirs: readonly string[];
}

const maxBytes = 4096;

/**
 * undefined: none, or its `.git` is a directory. One that does not point back is not believed, nor one that calls any other
 * directory its repository than the one it lies in: these are opened for writing.
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
    return dirname(gitDir) === join(common, "worktrees") ? { gitDirs: [gitDir, common] } : undefined;
  } catch {
    return undefined;
  }
}

function lineOf(path: string): string {
  return readFileSync(path, "utf8").slice(0, maxBytes).trim();
}
