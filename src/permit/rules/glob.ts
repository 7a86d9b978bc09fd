/**
 * Wildcards within one string: `*` any run of characters, `?` one character, `[a-z]` and `[!a]` one character of a
 * class, `\x` the character itself.
 */

export type Glob = readonly Token[];
type Token =
  | { readonly kind: "char"; readonly char: string }
  | { readonly kind: "any" }
  | { readonly kind: "run" }
  | { readonly kind: "class"; readonly negated: boolean; readonly ranges: readonly [string, string][] };

/** null: an unclosed class or a trailing backslash. */
export function parseGlob(text: string): Glob | null {
  return parseWrittenGlob(text.normalize("NFC"));
}

/** The glob without Unicode normalisation, for `matchesWritten`. */
export function parseWrittenGlob(text: string): Glob | null {
  const chars = [...text];
  const tokens: Token[] = [];
  for (let i = 0; i < chars.length; i++) {
    const char = chars[i] as string;
    if (char === "*") tokens.push({ kind: "run" });
    else if (char === "?") tokens.push({ kind: "any" });
    else if (char === "[") {
      const end = chars.indexOf("]", i + 2);
      if (end < 0) return null;
      tokens.push(parseClass(chars.slice(i + 1, end)));
      i = end;
    } else if (char === "\\") {
      const next = chars[++i];
      if (next === undefined) return null;
      tokens.push({ kind: "char", char: next });
    } else tokens.push({ kind: "char", char });
  }
  return tokens;
}

function parseClass(chars: readonly string[]): Token {
  const negated = chars[0] === "!" || chars[0] === "^";
  const body = negated ? chars.slice(1) : chars;
  const ranges: [string, string][] = [];
  for (let i = 0; i < body.length; i++) {
    const from = body[i] as string;
    const to = body[i + 1] === "-" ? body[i + 2] : undefined;
    ranges.push([from, to ?? from]);
    if (to !== undefined) i += 2;
  }
  return { kind: "class", negated, ranges };
}

export function matchesGlob(glob: Glob, text: string): boolean {
  return matchesWritten(glob, text.normalize("NFC"));
}

/**
 * Compares without Unicode normalisation: the composed and the decomposed é differ. Greedy, with one backtracking
 * point: the time is at most the product of both lengths.
 */
export function matchesWritten(glob: Glob, text: string): boolean {
  const chars = [...text];
  let at = 0;
  let back: { token: number; char: number } | undefined;
  for (let i = 0; i < chars.length; ) {
    const token = glob[at];
    if (token?.kind === "run") {
      back = { token: ++at, char: i };
    } else if (token !== undefined && takes(token, chars[i] as string)) {
      at++;
      i++;
    } else if (back !== undefined) {
      at = back.token;
      i = ++back.char;
    } else return false;
  }
  return glob.slice(at).every((token) => token.kind === "run");
}

function takes(token: Token, char: string): boolean {
  if (token.kind === "any") return true;
  if (token.kind === "char") return token.char === char;
  if (token.kind === "run") return false;
  return token.ranges.some(([from, to]) => from <= char && char <= to) !== token.negated;
}

/** The longest run of plain characters: any text that the glob matches contains it. May be empty. */
export function literalOf(glob: Glob): string {
  let longest = "";
  let run = "";
  for (const token of glob) {
    run = token.kind === "char" ? run + token.char : "";
    if (run.length > longest.length) longest = run;
  }
  return longest;
}

/** The glob that matches only this text. */
export function escapeGlob(text: string): string {
  return text.replace(/[\\*?[\]]/g, "\\$&");
}
