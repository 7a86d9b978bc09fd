/**
 * The terms that searches compare: ASCII words in lower case and stemmed, names split at `_` and case, CJK text as
 * pairs of characters.
 */
import { stemmer } from "stemmer";

const WORD = /[a-z0-9]+|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]+/gu;
/** Longer texts are cut: the rest adds little about the subject. */
const MAX_CHARS = 4_000;

/** The terms of a text in order, with repetitions. */
export function termsOf(text: string): string[] {
  const split = text
    .slice(0, MAX_CHARS)
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase();
  return [...split.matchAll(WORD)].flatMap(([word]) =>
    /^[a-z0-9]/.test(word) ? stemmer(word) : pairs(word),
  );
}

/** Splits `天气预报` into `天气`, `气预`, `预报`; a single character is a term of its own. */
function pairs(word: string): string[] {
  const letters = [...word];
  if (letters.length === 1) return letters;
  return letters.slice(1).map((letter, i) => `${letters[i]}${letter}`);
}

/** Stop words, removed from queries that are drawn from a conversation, but not from those the model writes. */
const EMPTY = new Set(
  (
    "a about all also an and any are as at be been but by can could do does done for from get had has have how i if in into is it " +
    "its just let like make me more my need no not now of on one or our out please should so some than that the their them then " +
    "there these they thi this to up us use want was we were what when where which will with would you your"
  )
    .split(" ")
    .map((word) => stemmer(word)),
);
const MAX_QUERY_TERMS = 24;

/** The query drawn from a message of the conversation: its distinct terms, the latest first. */
export function queryOf(text: string): string[] {
  const terms = termsOf(text.slice(-MAX_CHARS)).filter((term) => !EMPTY.has(term) && term.length > 1);
  return [...new Set(terms.reverse())].slice(0, MAX_QUERY_TERMS);
}
