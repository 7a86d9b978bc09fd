/** The escapes of `$'…'` as bash decodes them (bash manual 3.1.2.4). */

const PLAIN: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  e: "\x1b",
  E: "\x1b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

const ESCAPE = /\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([\s\S]))/g;

/** null: the result is not plain text: a byte that is not a character, a NUL, which ends the word, or `\c`. */
export function decodeAnsiC(body: string): string | null {
  let isOdd = false;
  const text = body.replace(ESCAPE, (whole, octal, hex, short, long, char: string | undefined) => {
    const digits = hex ?? short ?? long;
    if (octal === undefined && digits === undefined) {
      isOdd ||= char === "c" || char === "x" || char === "u" || char === "U";
      return PLAIN[char ?? ""] ?? (/["'?\\]/.test(char ?? "") ? (char ?? "") : whole);
    }
    const code = octal === undefined ? Number.parseInt(digits, 16) : Number.parseInt(octal, 8);
    const isByte = octal !== undefined || hex !== undefined;
    isOdd ||= code === 0 || (isByte && code > 127) || code > 0x10ffff || (code >= 0xd800 && code < 0xe000);
    return isOdd ? "" : String.fromCodePoint(code);
  });
  return isOdd ? null : text;
}
