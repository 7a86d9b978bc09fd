/** Worktrees that are nowhere: all of them lie below `/w`. */
import type { Worktree } from "../../abi/worktree.ts";
import type { Worktrees } from "../ports/worktrees.ts";

export function treeNamed(slug: string): Worktree {
  return {
    path: `/w/.crux/worktrees/${slug}`,
    branch: `worktree/${slug}`,
    main: "/w",
    gitDir: "/w/.git",
    base: "0",
  };
}

export function fakeTrees(more: Partial<Worktrees> = {}): Worktrees {
  return {
    open: async ({ slug }) => treeNamed(slug),
    recorded: () => {},
    settle: () => {},
    remove: async () => {},
    isKept: async () => true,
    ...more,
  };
}
