/** A notebook by its cells: id, kind, source, and what it gave. */
import { endLine } from "../budget.ts";
import { type Cell, cellId, type Notebook, sourceOf } from "../notebook.ts";
import { cutEnd } from "../text.ts";

const MAX_OUTPUT_CHARS = 10_000;

interface CellPage {
  readonly text: string;
  readonly cells: number;
}

/** Up to `limit` cells from `offset` on; fewer when they would pass `maxChars`, but at least one, which is then cut. */
export function cutCells({ cells }: Notebook, offset: number, limit: number, maxChars: number): CellPage {
  const parts: string[] = [];
  let chars = 0;
  for (let at = offset; at < cells.length && parts.length < limit; at++) {
    const cell = cells[at];
    if (cell === undefined) break;
    const part = cutEnd(cellText(cell, at), maxChars);
    if (parts.length > 0 && chars + part.length > maxChars) break;
    parts.push(part);
    chars += part.length;
  }
  return { text: parts.join(""), cells: parts.length };
}

function cellText(cell: Cell, index: number): string {
  const title = `[cell ${index}: ${cellId(cell, index)}, ${cell.cell_type}]\n`;
  const outputs = (cell.outputs ?? []).map(outputText).map((text) => endLine(`[output]\n${text}`));
  return title + endLine(sourceOf(cell)) + outputs.join("");
}

interface Output {
  readonly text?: unknown;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly ename?: unknown;
  readonly evalue?: unknown;
}

function outputText(output: unknown): string {
  const { text, data, ename, evalue } = (output ?? {}) as Output;
  if (ename !== undefined) return bounded(`${String(ename)}: ${String(evalue)}`);
  if (text !== undefined) return bounded(joined(text));
  const plain = data?.["text/plain"];
  const others = Object.keys(data ?? {}).filter((type) => type !== "text/plain");
  const named = others.length === 0 ? "" : `[${others.join(", ")}: not shown]`;
  return [plain === undefined ? "" : bounded(joined(plain)), named].filter((part) => part !== "").join("\n");
}

function joined(text: unknown): string {
  return Array.isArray(text) ? text.map(String).join("") : String(text);
}

function bounded(text: string): string {
  if (text.length <= MAX_OUTPUT_CHARS) return text;
  return `${cutEnd(text, MAX_OUTPUT_CHARS)}\n[output cut: ${MAX_OUTPUT_CHARS} of ${text.length} characters]`;
}
