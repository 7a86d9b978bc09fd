/** ULIDs (github.com/ulid/spec): 10 characters of time, then 16 that make them unique, in Crockford's base 32. */
const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const RANDOM_CHARS = 16;

/** `random`: a value from 0 up to 1, as `Math.random` gives; names are no secrets. */
export function ulid(now: number, random: () => number): string {
  let text = "";
  for (let left = now, n = 0; n < 10; n++) {
    text = `${DIGITS[left % 32]}${text}`;
    left = Math.floor(left / 32);
  }
  for (let n = 0; n < RANDOM_CHARS; n++) text += DIGITS[Math.floor(random() * 32)];
  return text;
}
