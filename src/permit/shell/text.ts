/** Checks made before shell text is analysed. */

const MAX_TEXT_CHARS = 32_768;

/** Why the text cannot be a command, so that the call is INVALID; null: it can. */
export function invalidText(text: string): string | null {
  if (text.includes("\0")) return "the command contains NUL";
  if (!text.isWellFormed()) return "the command contains half a character (a lone surrogate)";
  return text.length > MAX_TEXT_CHARS ? `the command is longer than ${MAX_TEXT_CHARS} characters` : null;
}

/**
 * Whether the text has control characters other than tab and newline: a terminal shows them differently from how bash
 * reads them.
 */
export function hasControl(text: string): boolean {
  return /[^\P{Cc}\t\n]/u.test(text);
}

/** Whether a character looks like a space or like nothing, although outside quotes it is part of a word. */
export function isInvisible(char: string): boolean {
  return /^[^\P{Z} ]$|^\p{Cf}$|^\p{Default_Ignorable_Code_Point}$/u.test(char);
}
