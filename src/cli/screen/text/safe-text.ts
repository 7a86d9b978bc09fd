/**
 * Makes text of models, tools and files safe for a screen: characters that could move the cursor, set the title or the
 * clipboard, or turn the reading direction are shown as escapes. Line ends and tabs are up to the caller.
 */

const HARMFUL = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

function escaped(character: string): string {
  const hex = (character.codePointAt(0) ?? 0).toString(16);
  if (hex.length > 2) return `\\u${hex.padStart(4, "0")}`;
  return `\\x${hex.padStart(2, "0")}`;
}

/** Several lines: `\n` and tabs are kept, `\r\n` is a line end. */
export function safeLines(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replace(HARMFUL, (character) =>
      character === "\n" || character === "\t" ? character : escaped(character),
    );
}

/** It has no line end either. */
export function isHarmless(text: string): boolean {
  return text.search(HARMFUL) < 0;
}

const COLOUR_OR_HARM = new RegExp(`\\x1b\\[[\\d;]*m|${HARMFUL.source}`, "gu");

/** What is about to reach a terminal: lines, tabs and colours are kept. A last guard, for what was not made safe before. */
export function safeScreen(text: string): string {
  if (isHarmless(text)) return text;
  return text.replace(COLOUR_OR_HARM, (found) =>
    found.length > 1 || found === "\n" || found === "\t" ? found : escaped(found),
  );
}

/** One line: a line end is shown as `\n`. */
export function safeLine(text: string): string {
  return safeLines(text).replaceAll("\n", "\\n").replaceAll("\t", "\\t");
}
