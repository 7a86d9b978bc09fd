/** Flags that only apply when a session begins. */
export const BEGINS_WITH = ["worktree"];
