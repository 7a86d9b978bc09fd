/** Makes and removes the worktrees of processes. `dev/git` implements it. */
import type { Pid } from "../../abi/ids.ts";
import type { Worktree } from "../../abi/worktree.ts";

export interface WorktreeWish {
  /** A directory in the repository. */
  readonly cwd: string;
  readonly slug: string;
  /** Shown in diagnostics, and kept in the marker of a new one. */
  readonly owner: string;
  /** UNAVAILABLE: `cwd` is not the top of the checkout. Absent: it may be anywhere in it. */
  readonly isTop?: true;
}

export interface Worktrees {
  /**
   * Makes the worktree, or takes one of this name that Crux has made. INVALID: not a name; CONFLICT: the name is taken;
   * UNAVAILABLE: no repository, no commit, or nothing that could hold a process to it.
   */
  open(wish: WorktreeWish, signal: AbortSignal): Promise<Worktree>;
  /** A process is on record with it: the next daemon finds it there. */
  recorded(worktree: Pick<Worktree, "path">): void;
  /**
   * Removes it with its branch if it is certain that nothing has changed in it; whatever has changed is kept. Returns at
   * once.
   */
  settle(worktree: Worktree): void;
  /**
   * Removes it with its branch; resolves once it is gone. CONFLICT: `owner` has not made it; or, unless `discards`, files or
   * commits would be lost, or git cannot tell.
   */
  remove(
    worktree: Worktree,
    how: { readonly owner: string; readonly discards: boolean },
    signal: AbortSignal,
  ): Promise<void>;
  /** Whether it is still there, once what was begun before this call is over. */
  isKept(worktree: Pick<Worktree, "gitDir" | "path">, signal: AbortSignal): Promise<boolean>;
}

export interface TreeLeaving {
  readonly removes: boolean;
  /** What would be lost is not kept. */
  readonly discards: boolean;
}

/** A process moves to a worktree, and back. The kernel implements it for a device. */
export interface Trees {
  /** `name` "": Crux names it. CONFLICT: it is in one; PERMISSION: another agent has started it; or as `Worktrees.open`. */
  enter(pid: Pid, name: string, signal: AbortSignal): Promise<Worktree>;
  /** `cwd`: where it works again. CONFLICT: it is in none; other processes work there; or as `Worktrees.remove`. */
  leave(
    pid: Pid,
    leaving: TreeLeaving,
    signal: AbortSignal,
  ): Promise<{ readonly worktree: Worktree; readonly cwd: string }>;
}
