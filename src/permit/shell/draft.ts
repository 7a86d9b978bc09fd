/** A simple command while it is read. */
import type { Node } from "web-tree-sitter";
import type { Assignment, Redirect } from "./command.ts";
import type { Word } from "./word.ts";

export interface Draft {
  readonly argv: Word[];
  readonly assignments: Assignment[];
  readonly redirects: Redirect[];
  input?: string;
  evaluates: string | null;
}

export function emptyDraft(): Draft {
  return { argv: [], assignments: [], redirects: [], evaluates: null };
}

/** What bash would redirect after `a && b` or `a | b`. */
export function lastCommand(node: Node): Node | undefined {
  if (node.type === "command") return node;
  if (node.type !== "list" && node.type !== "pipeline") return undefined;
  const last = node.namedChildren.at(-1);
  return last === undefined ? undefined : lastCommand(last);
}
