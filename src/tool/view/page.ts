/** A page of a text: whole lines, each bounded, together bounded. */
import { countLines, cutEnd, lineEnd } from "../text.ts";

export interface TextPage {
  /** Raw lines with their line ends. */
  text: string;
  lines: number;
  totalLines: number;
}

export const MAX_PAGE_LINES = 2000;
const MAX_LINE_CHARS = 2000;

/** Up to `limit` lines from line `offset` on, from 0; fewer when they would pass `maxChars`, but at least one. */
export function cutPage(text: string, offset: number, limit: number, maxChars: number): TextPage {
  const totalLines = countLines(text);
  const lines: string[] = [];
  let chars = 0;
  for (let at = skipLines(text, offset); at < text.length && lines.length < limit; ) {
    const end = lineEnd(text, at);
    const line = cutLine(text.slice(at, end));
    if (lines.length > 0 && chars + line.length > maxChars) break;
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

/** The line end stays, so that cut lines do not run together. */
function cutLine(line: string): string {
  const [ending = ""] = /\r?\n$/.exec(line) ?? [];
  const body = line.slice(0, line.length - ending.length);
  return body.length <= MAX_LINE_CHARS ? line : `${cutEnd(body, MAX_LINE_CHARS)}... [truncated]${ending}`;
}
