/**
 * Whether bytes may contain the beginning of a secret, of its looks alone: a few letters of each kind. Any three bytes have two
 * that stand at an even place, so these are looked up, four at a time. What is sure to have none needs no further look, and
 * most output has none.
 */

/** Each kind of secret has one of these within its first nine characters, or, for the password of a URL, before it. */
const GRAMS = ["BEG", "sk-", "_pa", "AKI", "ASI", "xox", "eyJ", "ap_", "://"].concat(
  [..."pousr"].map((letter) => `h${letter}_`),
  [..."rR"].flatMap((r) => [..."eE"].flatMap((e) => [..."rR"].map((last) => r + e + last))),
);
/**
 * What the letters belong to, in bytes, of which a character has up to three for each of its units. A URL that is not over
 * yet may have a password.
 */
const POSSIBLE =
  /-----BEG|(?:(?<![A-Za-z0-9_-])|(?<=\\[bfnrt])|(?<=\\u[0-9a-f]{4}))sk-|gh[pousr]_|github_pat_|AKIA|ASIA|xox[abeoprs]-|eyJ|cap_[0-9]|[Bb][Ee][Aa][Rr][Ee][Rr] |:\/\/[^\t\n\v\f\r /@"'<>\\]{0,2103}(?:@|$)/;
/** Words of which the first letters may be all that is there yet; and what makes a secret of a word that comes after it. */
const FIRST = ["-----BEGIN", "sk-", "github_pat_", "AKIA", "ASIA", "eyJ", "cap_", "bearer"].concat(
  [..."pousr"].map((letter) => `gh${letter}_`),
  [..."abeoprs"].map((letter) => `xox${letter}-`),
);
const FIRST_LETTERS = new Set(
  FIRST.flatMap((word) => Array.from(word, (_, at) => word.slice(0, at + 1).toLowerCase())),
);
const OPEN = /-----BEG|:\/\/\S*$|bearer {0,4}\S*$/i;
/** A URL may go on with a password. A prompt that ends so has a capital letter or a blank. */
const SCHEME = /(?<![A-Za-z0-9])[a-z][a-z0-9+.-]*:\/?$/;
const WORD = /(?:[A-Za-z0-9_]|-)*$/;
const ESCAPED = /^(?:[bfnrt]|u[0-9a-f]{4})/;
const MOST_BEGUN = 24;
const BEFORE = 16;
const BEHIND = 2_112;

const IS_GRAM = new Uint8Array(1 << 15);
/** The two neighbours in each of these, as one number of this machine's byte order. */
const IS_PAIR = new Uint8Array(1 << 16);
for (const gram of GRAMS) {
  const [a, b, c] = [...gram].map((letter) => letter.charCodeAt(0)) as [number, number, number];
  IS_GRAM[hash(a, b, c)] = 1;
  for (const pair of new Uint16Array(Uint8Array.of(a, b, b, c).buffer)) IS_PAIR[pair] = 1;
}

function hash(a: number, b: number, c: number): number {
  return ((a << 8) ^ (b << 4) ^ c) & 0x7fff;
}

/**
 * Whether a secret may begin in these bytes. One whose beginning is cut off at the end is seen once more bytes are there, if the
 * last 16 are looked at again.
 */
export function looksLikeSecret(bytes: Buffer): boolean {
  if (bytes.length < 3) return false;
  const first = bytes.byteOffset & 1;
  const pairs = new Uint16Array(bytes.buffer, bytes.byteOffset + first, (bytes.length - first) >> 1);
  const fours = pairs.length - 3;
  for (let n = 0; n < fours; n += 4) {
    const isAny =
      (IS_PAIR[pairs[n] as number] as number) |
      (IS_PAIR[pairs[n + 1] as number] as number) |
      (IS_PAIR[pairs[n + 2] as number] as number) |
      (IS_PAIR[pairs[n + 3] as number] as number);
    if (isAny === 1 && isWithin(bytes, first + 2 * n, 8)) return true;
  }
  const rest = first + 2 * (pairs.length - (pairs.length % 4));
  return isWithin(bytes, rest, bytes.length - rest);
}

/** Whether a secret may have begun in the last word of this text, which is shorter than one. */
export function looksBegun(text: string): boolean {
  const end = text.slice(-MOST_BEGUN);
  if (OPEN.test(end) || SCHEME.test(end)) return true;
  const word = WORD.exec(end)?.[0].toLowerCase() ?? "";
  const isEscape = end.at(-word.length - 1) === "\\";
  return [word, ...(isEscape ? [word.replace(ESCAPED, "")] : []), /-*$/.exec(word)?.[0] ?? ""].some((each) =>
    isFirst(each),
  );
}

/** It begins like one; what follows its first letters may be there as well. */
function isFirst(word: string): boolean {
  if (word === "") return false;
  return FIRST_LETTERS.has(word) || FIRST.some((each) => word.startsWith(each.toLowerCase()));
}

/** Whether a gram that begins, or goes on, in these `count` bytes belongs to what may be a secret. */
function isWithin(bytes: Buffer, from: number, count: number): boolean {
  const until = Math.min(bytes.length, from + count + 1);
  for (let at = Math.max(2, from + 1); at < until; at++) {
    const [a, b, c] = [bytes[at - 2] as number, bytes[at - 1] as number, bytes[at] as number];
    if (IS_GRAM[hash(a, b, c)] === 1 && isPossible(bytes, at)) return true;
  }
  return false;
}

function isPossible(bytes: Buffer, at: number): boolean {
  return POSSIBLE.test(bytes.toString("latin1", Math.max(0, at - BEFORE), at + BEHIND));
}
