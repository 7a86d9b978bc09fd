/** What is looked at before shell text is read at all. */

const MAX_TEXT_CHARS = 32_768;

/** Why the text is no command that could be asked about; null: it is one. The call is then INVALID. */
export function invalidText(text: string): string | null {
  if (text.includes("\0")) return "the command contains NUL";
  if (!text.isWellFormed()) return "the command contains half a character (a lone surrogate)";
  return text.length > MAX_TEXT_CHARS ? `the command is longer than ${MAX_TEXT_CHARS} characters` : null;
}

/** Control characters but tab and newline: a terminal shows them otherwise than bash reads them. */
export function hasControl(text: string): boolean {
  return /[^\P{Cc}\t\n]/u.test(text);
}

/** A character that looks like a space or like nothing; outside quotes it is part of a word all the same. */
export function isInvisible(char: string): boolean {
  return /^[^\P{Z} ]$|^\p{Cf}$|^\p{Default_Ignorable_Code_Point}$/u.test(char);
}
