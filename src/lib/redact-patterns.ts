/**
 * What secrets look like where nobody has named them. Each pattern begins with letters that are rare in other text, is decided
 * within 2,000 characters from its begin, and looks at most 8 characters back: a text that comes in parts is matched as a whole one.
 */

/** Of a mark: `[redacted:<kind>:<6 hex>]`. */
export type SecretKind = "pem" | "sk" | "github" | "aws" | "slack" | "jwt" | "bearer" | "url" | "known" | "fault";

/** A gap between lines, also as JSON spells it, however deep. */
const GAP = String.raw`(?:\s|\\{1,8}[nrt])`;

const ROWS: readonly (readonly [kind: SecretKind, pattern: string])[] = [
  [
    "pem",
    `-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----(?:[A-Za-z0-9+/=:,-](?!----)|[ -]|${GAP}){16,60000}` +
      "(?:.{0,2}-----END [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----)?",
  ],
  ["sk", String.raw`(?<![A-Za-z0-9_-])sk-[A-Za-z0-9_-]{16,1000}`],
  ["github", String.raw`(?<![A-Za-z0-9_])(?:gh[pousr]_[A-Za-z0-9]{20,250}|github_pat_[A-Za-z0-9_]{20,250})`],
  ["aws", String.raw`(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Z0-9])`],
  ["slack", String.raw`(?<![A-Za-z0-9])xox[abeoprs]-[A-Za-z0-9-]{10,500}`],
  ["jwt", String.raw`(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,1000}\.eyJ[A-Za-z0-9_-]{8,50000}\.[A-Za-z0-9_-]{0,2000}`],
  ["bearer", String.raw`(?<![A-Za-z0-9_])[Bb][Ee][Aa][Rr][Ee][Rr] {1,4}(?!\[redacted:)[A-Za-z0-9._~+/=-]{16,50000}`],
  ["url", String.raw`(?<=:\/\/)[^\s/:@"'<>\\[\]]{0,200}:(?!\[redacted:)[^\s/@"'<>\\]{3,500}(?=@[A-Za-z0-9[])`],
];

/** One expression, a named group for each kind. */
export function patternOf(): RegExp {
  return new RegExp(ROWS.map(([kind, pattern]) => `(?<${kind}>${pattern})`).join("|"), "g");
}

export const KINDS: readonly SecretKind[] = ROWS.map(([kind]) => kind);

/** Where none of these stands, no pattern matches. */
export const ANCHORS: readonly string[] = [
  "PRIVATE KEY",
  "sk-",
  "gh",
  "AKIA",
  "ASIA",
  "xox",
  "eyJ",
  "earer ",
  "EARER ",
  "://",
];
