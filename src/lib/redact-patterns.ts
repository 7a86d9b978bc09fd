/**
 * What secrets look like where nobody has named them. Each pattern begins with letters that are rare in other text, is decided
 * within 2,000 characters from its begin, and looks at most 8 characters back: a text that comes in parts is matched as a whole one.
 */

/** Of a mark: `[redacted:<kind>:<6 hex>]`. */
export type SecretKind =
  | "pem"
  | "sk"
  | "github"
  | "aws"
  | "slack"
  | "jwt"
  | "bearer"
  | "url"
  | "known"
  | "fault";

/** No such character stands before; the letter of a line end, as JSON spells it, is none. */
const after = (word: string): string => String.raw`(?:(?<![${word}])|(?<=\\[bfnrt])|(?<=\\u[0-9a-f]{4}))`;

const ROWS: readonly (readonly [kind: SecretKind, pattern: string])[] = [
  [
    "pem",
    // line ends also as JSON spells them, however deep
    String.raw`-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----(?:[A-Za-z0-9+/=:,\s]|-(?!----)|\\{1,8}[nrt]){16,60000}` +
      "(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----)?",
  ],
  ["sk", `${after("A-Za-z0-9_-")}sk-(?=[A-Za-z_-]{0,80}[0-9])[A-Za-z0-9_-]{16,1000}`],
  ["github", `${after("A-Za-z0-9_")}(?:gh[pousr]_[A-Za-z0-9]{20,250}|github_pat_[A-Za-z0-9_]{20,250})`],
  ["aws", `${after("A-Za-z0-9")}(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Z0-9])`],
  ["slack", `${after("A-Za-z0-9")}xox[abeoprs]-[A-Za-z0-9-]{10,500}`],
  ["jwt", `${after("A-Za-z0-9_-")}eyJ[A-Za-z0-9_-]{8,1000}.eyJ[A-Za-z0-9_-]{8,50000}.[A-Za-z0-9_-]{0,2000}`],
  [
    "bearer",
    `${after("A-Za-z0-9_")}[Bb][Ee][Aa][Rr][Ee][Rr] {1,4}(?=[A-Za-z._~+/=-]{0,80}[0-9])[A-Za-z0-9._~+/=-]{16,50000}`,
  ],
  [
    "url",
    String.raw`(?<=:\/\/)[^\s/:@"'<>\\[\]]{0,200}:(?!\[redacted:)[^\s/@"'<>\\]{3,500}(?=@[A-Za-z0-9[])`,
  ],
];

/** One expression, a named group for each kind. */
export function patternOf(): RegExp {
  return new RegExp(ROWS.map(([kind, pattern]) => `(?<${kind}>${pattern})`).join("|"), "g");
}

export const KINDS: readonly SecretKind[] = ROWS.map(([kind]) => kind);
