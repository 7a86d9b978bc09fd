/** PDF files: a small one as a document, for a model that accepts documents; otherwise the text of its pages. */
import type { PdfAnswer } from "../../abi/ops/fs.ts";
import { failure } from "../failure.ts";
import { fsAnswer, type Io } from "../files.ts";
import { cutEnd } from "../text.ts";
import type { Outcome, Scope } from "../tool.ts";

const MAX_PAGES_A_CALL = 20;
/** A PDF with more pages needs a page range. */
const MAX_PAGES_UNASKED = 10;
/** The size of a document in base64: a request may hold several. */
const MAX_DOCUMENT_CHARS = 4 * 1024 * 1024;
const MAX_CHARS = 99_000;

export interface PageRange {
  readonly first: number;
  readonly last: number;
}

/** Parses `3` or `3-7`. */
export function parsePages(pages: string): PageRange {
  const [, first = "", last = first] = /^\s*(\d{1,6})\s*(?:-\s*(\d{1,6})\s*)?$/.exec(pages) ?? [];
  const range = { first: Number(first), last: Number(last === "" ? first : last) };
  if (first === "" || range.first < 1 || range.last < range.first)
    throw failure(
      "INVALID",
      `pages is not a range of pages: ${pages}`,
      'Such as "3" or "3-7", counted from 1',
    );
  if (range.last - range.first >= MAX_PAGES_A_CALL)
    throw failure("INVALID", `pages: at most ${MAX_PAGES_A_CALL} at once`);
  return range;
}

interface PdfView {
  readonly outcome: Outcome;
  readonly total: number;
  readonly pages: PageRange;
}

export async function showPdf(
  context: Io & Pick<Scope, "supportsImages">,
  file: { readonly path: string; readonly shown: string; readonly bytes: Buffer },
  asked: PageRange | undefined,
): Promise<PdfView> {
  const { path, shown, bytes } = file;
  const { first, last } = asked ?? { first: 1, last: MAX_PAGES_UNASKED };
  const { pages: total, texts } = await fsAnswer<PdfAnswer>(context, path, { op: "pdf", first, last });
  if (asked === undefined && total > MAX_PAGES_UNASKED)
    throw failure(
      "INVALID",
      `${shown} has ${total} pages: name some`,
      `Such as pages "1-${MAX_PAGES_UNASKED}"`,
    );
  if (first > total) throw failure("INVALID", `page ${first} is past the end: ${total} pages`);
  const data = asked === undefined && context.supportsImages ? bytes.toString("base64") : "";
  if (data !== "" && data.length <= MAX_DOCUMENT_CHARS) {
    const media = [{ type: "document", media_type: "application/pdf", data } as const];
    const text = `[PDF: ${shown}, ${total} ${total === 1 ? "page" : "pages"}]`;
    return { outcome: { text, media }, total, pages: { first, last: total } };
  }
  return { ...pageTexts(texts, first, total), total };
}

/** As many pages as fit, at least one. */
function pageTexts(
  texts: readonly string[],
  first: number,
  total: number,
): { outcome: Outcome; pages: PageRange } {
  const parts: string[] = [];
  let chars = 0;
  for (const [i, text] of texts.entries()) {
    const body = text.trim() === "" ? "(no text on this page)" : cutEnd(text, MAX_CHARS);
    const part = `[page ${first + i} of ${total}]\n${body}\n`;
    if (parts.length > 0 && chars + part.length > MAX_CHARS) break;
    parts.push(part);
    chars += part.length;
  }
  const last = first + parts.length - 1;
  const on =
    last < total ? `[continue with pages="${last + 1}-${Math.min(total, last + MAX_PAGES_A_CALL)}"]` : "";
  return { outcome: { text: (parts.join("") + on).trimEnd() }, pages: { first, last } };
}
