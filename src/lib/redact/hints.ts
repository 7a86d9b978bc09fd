/**
 * Whether bytes may contain the beginning of a secret, of its looks alone: a few letters of each kind, searched by Horspool's
 * shifts. What is sure to have none needs no further look, and most output has none.
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
const BEFORE = 16;
const BEHIND = 2_112;

const SHIFT = new Uint8Array(256).fill(3);
const IS_GRAM = new Uint8Array(1 << 15);
for (const gram of GRAMS) {
  const [a, b, c] = [...gram].map((letter) => letter.charCodeAt(0)) as [number, number, number];
  SHIFT[a] = Math.min(SHIFT[a] as number, 2);
  SHIFT[b] = Math.min(SHIFT[b] as number, 1);
  SHIFT[c] = 0;
  IS_GRAM[hash(a, b, c)] = 1;
}

function hash(a: number, b: number, c: number): number {
  return ((a << 8) ^ (b << 4) ^ c) & 0x7fff;
}

/**
 * Whether a secret may begin in these bytes. One whose beginning is cut off at the end is seen once more bytes are there, if the
 * last 16 are looked at again.
 */
export function looksLikeSecret(bytes: Buffer): boolean {
  for (let at = 2; at < bytes.length; ) {
    const last = bytes[at] as number;
    const shift = SHIFT[last] as number;
    if (shift > 0) at += shift;
    else {
      if (
        IS_GRAM[hash(bytes[at - 2] as number, bytes[at - 1] as number, last)] === 1 &&
        isPossible(bytes, at)
      )
        return true;
      at++;
    }
  }
  return false;
}

function isPossible(bytes: Buffer, at: number): boolean {
  return POSSIBLE.test(bytes.toString("latin1", Math.max(0, at - BEFORE), at + BEHIND));
}
