/** Worktrees: a checkout of its own for a process, on a branch of its own. */
import type { Effect } from "./effects.ts";

/** Real paths. Plain data: it is journalled with the process. */
export interface Worktree {
  readonly path: string;
  readonly branch: string;
  /** The root of the checkout that it is apart from. */
  readonly main: string;
  /** The git directory that both share. */
  readonly gitDir: string;
  /** The commit that it began with. */
  readonly base: string;
}

/** Where worktrees lie, below the top of the checkout. */
export const WORKTREES = ".crux/worktrees";

/** What moving to a worktree does: whether it makes one, or takes one, git finds out. */
export function enterEffect(cwd: string): Effect {
  return { kind: "write", path: `${cwd === "/" ? "" : cwd}/${WORKTREES}`, change: "create" };
}

/** What leaving the worktree `cwd` does: nothing is lost, unless that is wanted; then it is judged as the command that it is. */
export function leaveEffect(cwd: string, discards: boolean): Effect {
  const argv = ["git", "worktree", "remove", "--force", cwd];
  return discards ? { kind: "exec", argv, cwd, certain: true } : { kind: "state", path: "/dev/worktree" };
}

const MAX_CHARS = 64;

/** Why a text does not name a worktree; undefined: it does. Segments of names, as of a branch: `fix-auth.2`, `web/login`. */
export function slugProblem(slug: string): string | undefined {
  if (slug.length > MAX_CHARS) return `it has ${slug.length} characters, at most ${MAX_CHARS}`;
  for (const segment of slug.split("/")) {
    if (!/^[A-Za-z0-9._-]+$/.test(segment))
      return "letters, digits, points, hyphens and underscores make its parts, slashes divide them";
    if (
      segment.startsWith("-") ||
      segment.startsWith(".") ||
      segment.includes("..") ||
      /(\.|\.lock)$/.test(segment)
    )
      return `no branch can be named ${segment}`;
  }
  return undefined;
}
