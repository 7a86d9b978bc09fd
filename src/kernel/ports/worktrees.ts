/** Makes and removes the worktrees of processes. `dev/git` implements it. */
import type { Worktree } from "../../abi/worktree.ts";

export interface WorktreeWish {
  /** A directory in the repository. */
  readonly cwd: string;
  readonly slug: string;
  /** Shown in diagnostics. */
  readonly owner: string;
}

export interface Worktrees {
  /**
   * Makes the worktree, or takes one of this name that Crux has made. INVALID: not a name; CONFLICT: the name is taken;
   * UNAVAILABLE: no repository, no commit, or nothing that could hold a process to it.
   */
  open(wish: WorktreeWish, signal: AbortSignal): Promise<Worktree>;
  /**
   * Removes it with its branch if it is certain that nothing has changed in it; whatever has changed is kept. Returns at
   * once.
   */
  settle(worktree: Worktree): void;
  /** Whether it is still there, once what was begun before this call is over. */
  isKept(worktree: Pick<Worktree, "gitDir" | "path">, signal: AbortSignal): Promise<boolean>;
}
