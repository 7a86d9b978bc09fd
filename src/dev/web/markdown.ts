/** A page as a model reads it. */
import { readHtml } from "./html-job.ts";

/** The text without its tags, where no better can be had of it: too deep, too long, not HTML at all. */
export function plainText(html: string): string {
  return html
    .replace(/<(script|style|noscript|template)\b[\s\S]*?<\/\1\s*>/gi, " ")
    .replace(/<[^>]*>/g, " ")
    .replace(/&(nbsp|amp|lt|gt|quot|#39);/g, (_all, name: string) => ENTITIES[name] ?? " ")
    .replace(/[ \t]+/g, " ")
    .replace(/\s*\n\s*/g, "\n")
    .trim();
}

const ENTITIES: Readonly<Record<string, string>> = {
  nbsp: " ",
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  "#39": "'",
};

/** Never rejects but for the signal. */
export async function htmlToMarkdown(html: string, signal: AbortSignal): Promise<string> {
  return (await readHtml<string>({ kind: "markdown", html }, signal)) ?? plainText(html.slice(0, MAX_CHARS));
}

const MAX_CHARS = 2 * 1024 * 1024;
