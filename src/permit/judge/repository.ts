/** The repository that git would work in: its configuration names programs that even `git status` starts. */
import { posix } from "node:path";

interface Repository {
  readonly root: string;
  /** Its configuration has no `.git` in its path: no protected path covers it. */
  readonly isBare: boolean;
}

/**
 * Upwards from a resolved directory, as git goes; null: there is none. It goes on where git might stop, and takes for a
 * repository whatever has a HEAD: its other parts may lie elsewhere.
 */
export function findRepository(dir: string, exists: (path: string) => boolean): Repository | null {
  for (let at = dir; ; at = posix.dirname(at)) {
    if (exists(posix.join(at, ".git"))) return { root: at, isBare: false };
    if (exists(posix.join(at, "HEAD"))) return { root: at, isBare: posix.basename(at) !== ".git" };
    // also of a path that is not absolute: nobody may keep the daemon looking
    if (at === posix.dirname(at)) return null;
  }
}
