/**
 * Jupyter notebooks (nbformat 4) as text: the positions of the cells, so that one can change and all other bytes stay.
 */
import { failure } from "./failure.ts";

export interface Cell {
  readonly id?: string;
  readonly cell_type: string;
  readonly source: string | readonly string[];
  readonly outputs?: readonly unknown[];
  readonly [key: string]: unknown;
}

export interface Notebook {
  readonly cells: readonly Cell[];
  readonly nbformat?: number;
  readonly nbformat_minor?: number;
}

/** INVALID: not a notebook. */
export function parseNotebook(shown: string, text: string): Notebook {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (cause) {
    throw failure("INVALID", `not a notebook: ${shown}`, undefined, cause);
  }
  if (isNotebook(value)) return value;
  throw failure("INVALID", `not a notebook: ${shown}`);
}

function isNotebook(value: unknown): value is Notebook {
  const { cells } = (value ?? {}) as { cells?: unknown };
  return Array.isArray(cells) && cells.every(isCell);
}

function isCell(value: unknown): value is Cell {
  const { cell_type: type, source } = (value ?? {}) as Partial<Cell>;
  const isText =
    typeof source === "string" || (Array.isArray(source) && source.every((line) => typeof line === "string"));
  return typeof type === "string" && isText;
}

export function sourceOf({ source }: Cell): string {
  return typeof source === "string" ? source : source.join("");
}

/** The cell's own id, or, in formats without ids, its position. */
export function cellId(cell: Cell, index: number): string {
  return typeof cell.id === "string" && cell.id !== "" ? cell.id : `cell-${index}`;
}

/** A range of a text. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * The elements of the list `cells` in the text of a notebook, and the list with its brackets. The text is valid JSON.
 */
export function cellSpans(text: string): { readonly list: Span; readonly cells: readonly Span[] } {
  const found: Span[] = [];
  let depth = 0;
  let key = "";
  let [listStart, itemStart] = [-1, -1];
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === '"') {
      const end = stringEnd(text, at);
      // of duplicate names the last one counts, as with JSON.parse
      if (depth === 1) key = JSON.parse(text.slice(at, end)) as string;
      at = end - 1;
    } else if (char === "{" || char === "[") {
      depth++;
      if (depth === 2 && char === "[" && key === "cells" && isValue(text, at)) {
        listStart = at;
        found.length = 0;
      }
      if (depth === 3 && listStart !== -1) itemStart = at;
    } else if (char === "}" || char === "]") {
      if (depth === 3 && listStart !== -1) found.push({ start: itemStart, end: at + 1 });
      if (depth === 2 && listStart !== -1) return { list: { start: listStart, end: at + 1 }, cells: found };
      depth--;
    }
  }
  throw new Error("a notebook without cells");
}

/** Whether a value starts here: after a name and a colon. */
function isValue(text: string, at: number): boolean {
  return text.slice(0, at).trimEnd().endsWith(":");
}

/** The position after the closing quote. */
function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === '"') return at + 1;
  }
  return text.length;
}
