import type { WireRow } from "../../../abi/methods/process.ts";
import { microUsd, usdOf } from "../../../lib/usd.ts";

/** Deeper branches are not indented further. */
const MAX_DEPTH = 24;

/** One process in tree order. */
export interface Branch {
  readonly row: WireRow;
  /** 0: no shown ancestor. */
  readonly depth: number;
  /** The tree lines and blanks before the name. */
  readonly prefix: string;
  /** Tokens of the process and its whole subtree, ended ones included; `subtreeUsd` likewise. */
  readonly subtreeTokens: number;
  readonly subtreeUsd: number;
  /** Calls without a known price in the subtree. */
  readonly subtreeUnpriced: number;
  /** The number of direct children. */
  readonly children: number;
}

interface Glyphs {
  readonly branch: string;
  readonly last: string;
  readonly through: string;
  readonly blank: string;
}

export const LINES: Glyphs = { branch: "├─ ", last: "└─ ", through: "│  ", blank: "   " };
export const ASCII: Glyphs = { branch: "|- ", last: "`- ", through: "|  ", blank: "   " };

/**
 * Each process comes before its children; siblings are in the order of `rows`. A process whose parent is not in `rows`
 * is a root. `root`: only this process and its subtree; empty if it is not in `rows`.
 */
export function forest(rows: readonly WireRow[], glyphs: Glyphs = LINES, root?: number): Branch[] {
  const shown = new Set(rows.map(({ pid }) => pid));
  const below = Map.groupBy(rows, ({ ppid }) => (shown.has(ppid) ? ppid : 0));
  const roots = root === undefined ? (below.get(0) ?? []) : rows.filter(({ pid }) => pid === root);
  const found: Draft[] = [];
  const waiting: Draft[] = drafts(roots, undefined, glyphs);
  for (let draft = waiting.pop(); draft !== undefined; draft = waiting.pop()) {
    found.push(draft);
    const children = draft.row.pid === 0 ? [] : (below.get(draft.row.pid) ?? []);
    draft.children = children.length;
    waiting.push(...drafts(children, draft, glyphs));
  }
  for (const draft of found.toReversed()) {
    const { parent, row } = draft;
    // of those that have ended, rows may know nothing
    draft.subtreeTokens = Math.max(draft.subtreeTokens, row.subtree?.tokens_used ?? 0);
    draft.subtreeUsd = Math.max(draft.subtreeUsd, row.subtree?.cost_usd ?? 0);
    if (parent === undefined) continue;
    parent.subtreeTokens += draft.subtreeTokens;
    parent.subtreeUnpriced += draft.subtreeUnpriced;
    parent.subtreeUsd = usdOf(microUsd(parent.subtreeUsd) + microUsd(draft.subtreeUsd));
  }
  return found;
}

interface Draft extends Branch {
  readonly parent: Draft | undefined;
  /** The prefix of its children. */
  readonly inner: string;
  subtreeTokens: number;
  subtreeUsd: number;
  subtreeUnpriced: number;
  children: number;
}

/** In reverse order, because they are pushed onto a stack. */
function drafts(rows: readonly WireRow[], parent: Draft | undefined, glyphs: Glyphs): Draft[] {
  const all = rows.map((row, at): Draft => {
    const { tokens_used: subtreeTokens, cost_usd: subtreeUsd = 0, unpriced_calls: subtreeUnpriced = 0 } = row;
    const base = { row, parent, subtreeTokens, subtreeUsd, subtreeUnpriced, children: 0 };
    if (parent === undefined) return { ...base, depth: 0, prefix: "", inner: "" };
    const depth = parent.depth + 1;
    if (depth > MAX_DEPTH) return { ...base, depth, prefix: parent.prefix, inner: parent.inner };
    const isLast = at === rows.length - 1;
    const prefix = parent.inner + (isLast ? glyphs.last : glyphs.branch);
    return { ...base, depth, prefix, inner: parent.inner + (isLast ? glyphs.blank : glyphs.through) };
  });
  return all.reverse();
}
