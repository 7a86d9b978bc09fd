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
