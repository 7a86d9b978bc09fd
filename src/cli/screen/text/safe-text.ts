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

/** One line: a line end is shown as `\n`. */
export function safeLine(text: string): string {
  return safeLines(text).replaceAll("\n", "\\n").replaceAll("\t", "\\t");
}
