/**
 * Text that the user decides on: misleading characters are shown as their code points. Beyond what safe-text.ts
 * escapes, these are unusual blanks, invisible characters, and letters of other scripts that look like Latin ones.
 */
import { safeLine, safeLines } from "./safe-text.ts";

/** Format characters and unusual blanks, except tab, line end and the plain blank. */
const SHAPELESS =
  /[\p{Cf}\p{Co}\p{Cn}]|\u034f|\u115f|\u1160|\u17b4|\u17b5|\u3164|\uffa0|[\ufe00-\ufe0f]|(?! )\p{Zs}/gu;
const WORD = /[\p{L}\p{M}\p{N}]+/gu;
const LATIN = /\p{Script=Latin}/u;
const OTHER = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Lisu}]/gu;
/** Full-width and mathematical forms of Latin letters and digits. */
const STYLED = /[\uff01-\uff5e\u{1d400}-\u{1d7ff}]/gu;
/** Cyrillic and Greek letters that look like Latin ones: a word made only of these is treated as a deception. */
const ALIKE = /^[аеорсухіјѕһԁԛԝьАВЕКМНОРСТУХІЈЅαινορτυχκΑΒΕΖΗΙΚΜΝΟΡΤΥΧ\d]+$/u;

export function plainLines(text: string): string {
  return unmasked(safeLines(text));
}

export function plainLine(text: string): string {
  return unmasked(safeLine(text));
}

function unmasked(text: string): string {
  return text.replace(SHAPELESS, escaped).replace(STYLED, escaped).replace(WORD, unmaskedWord);
}

/** A word must be in one script: foreign letters among Latin ones are likely to deceive. */
function unmaskedWord(word: string): string {
  if (/^[\p{ASCII}]*$/u.test(word)) return word;
  return LATIN.test(word) || ALIKE.test(word) ? word.replace(OTHER, escaped) : word;
}

function escaped(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
