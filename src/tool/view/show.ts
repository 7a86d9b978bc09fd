/** How a file is shown to the model: decided by its content, then by its name. */
import { findImage, type ImageHead } from "../../lib/image-head.ts";
import { endLine } from "../budget.ts";
import type { EncodedText, Encoding } from "../encoding.ts";
import { failure } from "../failure.ts";
import { type Cell, cellId, type Notebook, parseNotebook, sourceOf } from "../notebook.ts";
import { countLines, cutEnd, decodeFile, lineEnd } from "../text.ts";
import type { Outcome, RunContext } from "../tool.ts";
import type { Args } from "./arguments.ts";
import { type PageRange, showPdf } from "./pdf.ts";

/** Nothing here shrinks an image: one that is too large is refused, with a hint on how to shrink it. */
const MAX_SIDE = 2000;
const MAX_TOKENS = 25_000;
const TOKENS_A_CHARACTER = 0.125;

export const MAX_RESULT_CHARS = 100_000;
/** The page itself: the lines about it come on top. */
const MAX_PAGE_CHARS = MAX_RESULT_CHARS - 1000;
/** Names that are binary whatever the first bytes are. */
const BINARY_NAMES = /\.(exe|dll|so|dylib|o|a|class|pyc|wasm|zip|gz|bz2|xz|7z)$/i;

/** The arguments of view, with the page range parsed. */
export interface ViewArgs extends Omit<Args, "pages"> {
  readonly pages: PageRange | undefined;
}

export async function show(
  args: ViewArgs,
  { path, bytes }: { path: string; bytes: Buffer },
  context: RunContext,
): Promise<Outcome> {
  const { file_path: shown, offset } = args;
  if (isPdf(bytes)) {
    const { outcome, total, pages } = await showPdf(context, { path, shown, bytes }, args.pages);
    const lines = pages.last - pages.first + 1;
    const facts = { count: { n: lines, of: "page" } } as const;
    return {
      ...withMeta(outcome, args, { total_lines: total, offset: pages.first - 1, lines, type: "pdf" }),
      facts,
    };
  }
  if (args.pages !== undefined) throw failure("INVALID", `pages is for PDF files: ${shown}`);
  const image = findImage(bytes);
  if (image !== undefined) {
    if (!context.supportsImages) throw failure("INVALID", "Model does not support images");
    const outcome = showImage(shown, bytes, image);
    return withMeta(outcome, args, { total_lines: null, offset: 0, lines: 0, type: "image" });
  }
  const file = decode(args, bytes);
  const notebook = /\.ipynb$/i.test(shown) ? findNotebook(shown, file.text) : undefined;
  if (notebook === undefined) return render(args, file);
  const total = notebook.cells.length;
  if (total > 0 && offset >= total)
    throw failure("INVALID", `offset ${offset} is past the end: ${total} cells`);
  const { text, cells } = cutCells(notebook, offset, args.limit);
  const next = offset + cells;
  const place = cells === total ? "" : `[cells ${offset}-${next - 1} of ${total}`;
  const on = next < total ? `; continue with offset=${next}]` : "]";
  const outcome = { text: total === 0 ? "[notebook has no cells]" : text + (place === "" ? "" : place + on) };
  const facts = { count: { n: cells, of: "cell" } } as const;
  return {
    ...withMeta(outcome, args, { total_lines: total, offset, lines: cells, type: "notebook" }),
    facts,
  };
}

/** A broken notebook is shown as plain text, so that it can be fixed. */
function findNotebook(shown: string, text: string): Notebook | undefined {
  try {
    return parseNotebook(shown, text);
  } catch {
    return undefined;
  }
}

function withMeta(outcome: Outcome, args: ViewArgs, meta: Record<string, unknown>): Outcome {
  return { ...outcome, meta: { file_path: args.file_path, content: outcome.text, ...meta } };
}

export function isPdf(bytes: Buffer): boolean {
  return bytes.toString("latin1", 0, 5) === "%PDF-";
}

function decode(args: ViewArgs, bytes: Buffer): EncodedText {
  const decoded = decodeFile(bytes);
  if (decoded.kind === "text" && !BINARY_NAMES.test(args.file_path)) return decoded;
  throw failure("INVALID", `binary file: ${args.file_path}`, "Only text can be viewed");
}

function render(args: ViewArgs, file: EncodedText): Outcome {
  const limit = Math.min(args.limit, MAX_PAGE_LINES);
  // the byte-order mark is not part of the first line
  const page = cutPage(file.text.toWellFormed().replace(/^\uFEFF/, ""), args.offset, limit);
  if (page.totalLines > 0 && args.offset >= page.totalLines)
    throw failure("INVALID", `offset ${args.offset} is past the end: ${page.totalLines} lines`);
  const { file_path, offset } = args;
  const meta = { file_path, content: page.text, total_lines: page.totalLines, offset, lines: page.lines };
  const facts = { count: { n: page.lines, of: "line" } } as const;
  return { text: withNotes(args, page, file.encoding), meta: { ...meta, type: "text" }, facts };
}

function withNotes(args: ViewArgs, page: TextPage, encoding: Encoding): string {
  if (page.totalLines === 0) return "[file is empty]";
  const notes: string[] = [];
  if (args.limit > MAX_PAGE_LINES) notes.push(`[limit lowered to ${MAX_PAGE_LINES}]`);
  if (encoding === "Windows-1252")
    notes.push("[not UTF-8: read as Windows-1252 (Latin-1), which edit and write keep]");
  if (encoding === "damaged UTF-8" && page.text.includes("\uFFFD"))
    notes.push("[not UTF-8: some bytes are shown as \uFFFD; edit keeps them]");
  if (page.lines < page.totalLines) notes.push(place(args.offset, page));
  return notes.length === 0 ? page.text : `${endLine(page.text)}${notes.join("\n")}`;
}

function place(offset: number, page: TextPage): string {
  const next = offset + page.lines;
  const on = next < page.totalLines ? `; continue with offset=${next}` : "";
  return `[lines ${offset}-${next - 1} of ${page.totalLines}${on}]`;
}

/** A notebook is shown by cells: id, kind, source, and outputs. */
const MAX_OUTPUT_CHARS = 10_000;

interface CellPage {
  readonly text: string;
  readonly cells: number;
}

/** Up to `limit` cells from `offset` on; fewer if they exceed a page, but at least one, which is then cut. */
function cutCells({ cells }: Notebook, offset: number, limit: number): CellPage {
  const parts: string[] = [];
  let chars = 0;
  for (let at = offset; at < cells.length && parts.length < limit; at++) {
    const cell = cells[at];
    if (cell === undefined) break;
    const part = cutEnd(cellText(cell, at), MAX_PAGE_CHARS);
    if (parts.length > 0 && chars + part.length > MAX_PAGE_CHARS) break;
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

/** A page of a text: whole lines; each line and the total are bounded. */
interface TextPage {
  /** The raw lines with their line ends. */
  text: string;
  lines: number;
  totalLines: number;
}

const MAX_PAGE_LINES = 2000;
const MAX_LINE_CHARS = 2000;

/** Up to `limit` lines from line `offset` on, from 0; fewer if they exceed a page, but at least one. */
function cutPage(text: string, offset: number, limit: number): TextPage {
  const totalLines = countLines(text);
  const lines: string[] = [];
  let chars = 0;
  for (let at = skipLines(text, offset); at < text.length && lines.length < limit; ) {
    const end = lineEnd(text, at);
    const line = cutLine(text.slice(at, end));
    if (lines.length > 0 && chars + line.length > MAX_PAGE_CHARS) break;
    lines.push(line);
    chars += line.length;
    at = end;
  }
  return { text: lines.join(""), lines: lines.length, totalLines };
}

function skipLines(text: string, count: number): number {
  let at = 0;
  for (let line = 0; line < count && at < text.length; line++) at = lineEnd(text, at);
  return at;
}

/** Keeps the line end, so that cut lines do not run together. */
function cutLine(line: string): string {
  const [ending = ""] = /\r?\n$/.exec(line) ?? [];
  const body = line.slice(0, line.length - ending.length);
  return body.length <= MAX_LINE_CHARS ? line : `${cutEnd(body, MAX_LINE_CHARS)}... [truncated]${ending}`;
}

function showImage(shown: string, bytes: Buffer, head: ImageHead): Outcome {
  const { mediaType: media_type, width, height } = head;
  const data = bytes.toString("base64");
  if (width > MAX_SIDE || height > MAX_SIDE)
    throw tooLarge(shown, `${width} x ${height} pixels, max ${MAX_SIDE} x ${MAX_SIDE}`);
  const tokens = Math.ceil(data.length * TOKENS_A_CHARACTER);
  if (tokens > MAX_TOKENS) throw tooLarge(shown, `${tokens} tokens, max ${MAX_TOKENS}`);
  const size = width > 0 && height > 0 ? `, ${width} x ${height}` : "";
  return {
    text: `[image: ${shown}, ${media_type}${size}, ${bytes.byteLength} bytes]`,
    media: [{ type: "image", media_type, data }],
  };
}

function tooLarge(shown: string, why: string): Error {
  const hint =
    "Make a smaller copy in bash and view that: convert in.png -resize 800x800 -quality 60 out.jpg";
  return failure("INVALID", `image too large: ${shown} (${why})`, hint);
}
