/** Here-documents, as the tree and the scanner tell of them. */
import type { Node } from "web-tree-sitter";
import type { HereDocument } from "./scanned.ts";
import { Unread } from "./unread.ts";

/** Both must take the same line for its end. */
export function checkEnd(text: string, { end }: HereDocument, node: Node): void {
  if (node.startIndex < end || !/^\t*$/.test(text.slice(end, node.startIndex)))
    throw new Unread("a here-document that is read in two ways");
}

/** What the command reads; null: bash makes something else of it. */
export function plainInput(text: string, { start, end, isQuoted, stripsTabs }: HereDocument): string | null {
  const body = text.slice(start, end);
  if (!isQuoted && /[$`\\]/.test(body)) return null;
  return stripsTabs ? body.replace(/^\t+/gm, "") : body;
}

/** The grammar hangs what follows on the same line on the here-document. */
export function isStatement({ type }: Node): boolean {
  return /^(?:pipeline|command|list|redirected_statement|subshell|compound_statement)$/.test(type);
}
