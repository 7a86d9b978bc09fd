/**
 * Removes secrets from texts before they are stored, logged, shown or sent: known values, and strings that look like a
 * secret. Each is replaced by a mark that is the same for the same secret. Pure: known values and the key are passed
 * in.
 */
import { createHmac } from "node:crypto";
import { looksBegun, looksLikeSecret } from "./hints.ts";
import { type KnownHit, KnownValues, MIN_KNOWN_CHARS } from "./known.ts";

/** Most known values; beyond that, those learned longest ago are dropped. */
const MAX_KNOWN = 1_000;
/** Replaces a text that could not be searched. */
export const DROPPED = "[redacted:fault:000000]";
const MARK = /\[redacted:[a-z]{2,10}:[0-9a-f]{6}\]/;

interface Secret {
  readonly start: number;
  readonly end: number;
  readonly kind: SecretKind;
  /** `[redacted:github:1f2e3d]` */
  readonly mark: string;
}

/** Whether a text contains a mark, so that the original value is unknown to its reader. */
export function hasMark(text: string): boolean {
  return text.includes("[redacted:") && MARK.test(text);
}

export class Redactor {
  #key: Uint8Array;
  readonly #values = new Set<string>();
  /** Its `lastIndex` is set before each use. */
  readonly #pattern = patternOf();
  #known: KnownValues | null = null;

  /** `key`: without it a mark does not reveal what it stands for. */
  constructor(key: Uint8Array) {
    this.#key = key;
  }

  /** Uses this key from now on. */
  useKey(key: Uint8Array): void {
    this.#key = key;
  }

  /** Treats these values as secrets from now on. Values shorter than 8 characters are ignored. */
  learn(values: Iterable<string>): void {
    for (const value of values) {
      if (value.length < MIN_KNOWN_CHARS) continue;
      if (!this.#values.delete(value)) this.#known = null;
      this.#values.add(value);
    }
    for (const oldest of this.#values) {
      if (this.#values.size <= MAX_KNOWN) break;
      this.#values.delete(oldest);
      this.#known = null;
    }
  }

  /** Returns the same string if no secret was found. `except`: marks of secrets that may stay. Never throws. */
  redact(text: string, except?: ReadonlySet<string>): string {
    try {
      return this.#redact(text, except);
    } catch {
      return DROPPED;
    }
  }

  /** Bytes that are not text, or contain no secret, stay as they are. */
  redactBytes(bytes: Uint8Array, except?: ReadonlySet<string>): Uint8Array {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const text = buffer.toString("utf8");
    const clean = this.redact(text, except);
    if (clean === text) return bytes;
    // bytes that are not UTF-8 are lost here, which is better than leaking the secret
    return Buffer.from(clean);
  }

  /** False: no secret begins in these bytes, but for their last 16, which may be a part of its beginning. */
  mayBegin(bytes: Buffer): boolean {
    this.#known ??= new KnownValues(this.#values);
    return looksLikeSecret(bytes) || this.#known.mayBegin(bytes);
  }

  /** Whether text still to come may make a secret of the end of this one, of which no more than a word is there. */
  mayGoOn(text: string): boolean {
    this.#known ??= new KnownValues(this.#values);
    return looksBegun(text) || this.#known.isBegun(text);
  }

  /** The marks of all known values: whether another redactor with this key knows them too. */
  knownMarks(): readonly string[] {
    return Array.from(this.#values, (value) => this.#mark("known", value));
  }

  /** Searches one text, from front to back. */
  scan(text: string): Scan {
    this.#known ??= new KnownValues(this.#values);
    return new Scan(text, {
      pattern: this.#pattern,
      values: this.#known,
      mark: (kind, secret) => this.#mark(kind, secret),
    });
  }

  #redact(text: string, except: ReadonlySet<string> | undefined): string {
    const scan = this.scan(text);
    const parts: string[] = [];
    let done = 0;
    for (let at = 0; ; ) {
      const secret = scan.next(at);
      if (secret === null) break;
      at = secret.end;
      if (except?.has(secret.mark) === true) continue;
      parts.push(text.slice(done, secret.start), secret.mark);
      done = secret.end;
    }
    if (parts.length === 0) return text;
    parts.push(text.slice(done));
    return parts.join("");
  }

  /** The mark of a secret; a multi-line key has the same mark however the text spells its line ends. */
  #mark(kind: SecretKind, secret: string): string {
    const plain = kind === "pem" ? secret.replaceAll(/\\+[nrt]|[\s\\]/g, "") : secret;
    return `[redacted:${kind}:${createHmac("sha256", this.#key).update(plain).digest("hex").slice(0, 6)}]`;
  }
}

interface Found {
  readonly start: number;
  readonly end: number;
  readonly kind: SecretKind;
}

/** What to search for, and the mark that replaces it. */
interface Search {
  readonly pattern: RegExp;
  readonly values: KnownValues;
  mark(kind: SecretKind, secret: string): string;
}

class Scan {
  readonly #text: string;
  readonly #search: Search;
  /** The next hit of each kind; undefined: not searched yet; null: no more hits. */
  #known: KnownHit | null | undefined;
  #found: Found | null | undefined;

  constructor(text: string, search: Search) {
    this.#text = text;
    this.#search = search;
  }

  /** The first secret that begins at or after `from`, which must not decrease; null: no more secrets. */
  next(from: number): Secret | null {
    const [known, found] = [this.#nextKnown(from), this.#nextFound(from)];
    if (known !== null && (found === null || known.start <= found.start)) {
      const mark = this.#search.mark("known", known.value);
      return { start: known.start, end: this.#extended(known), kind: "known", mark };
    }
    if (found === null) return null;
    const mark = this.#search.mark(found.kind, this.#text.slice(found.start, found.end));
    return { ...found, end: this.#extended(found), mark };
  }

  /** The end of a secret, extended by known values that begin inside it and end later. */
  #extended({ start, end }: { readonly start: number; readonly end: number }): number {
    let last = end;
    for (let next = this.#nextKnown(start + 1); next !== null && next.start < last; ) {
      last = Math.max(last, next.end);
      next = this.#nextKnown(next.start + 1);
    }
    return last;
  }

  #nextKnown(from: number): KnownHit | null {
    if (this.#known === undefined || (this.#known !== null && this.#known.start < from))
      this.#known = this.#search.values.find(this.#text, from);
    return this.#known;
  }

  #nextFound(from: number): Found | null {
    if (this.#found !== undefined && (this.#found === null || this.#found.start >= from)) return this.#found;
    const { pattern } = this.#search;
    pattern.lastIndex = from;
    const hit = pattern.exec(this.#text);
    const kind = KINDS.find((each) => hit?.groups?.[each] !== undefined);
    this.#found =
      hit === null || kind === undefined ? null : { start: hit.index, end: hit.index + hit[0].length, kind };
    return this.#found;
  }
}

/**
 * Patterns of secrets whose values are not known. Each begins with letters that are rare in other text, is decided
 * within 2,000 characters of its beginning, and looks back at most 8 characters, so that a text in chunks matches like
 * a whole one. The kind appears in the mark: `[redacted:<kind>:<6 hex>]`.
 */
type SecretKind =
  | "pem"
  | "sk"
  | "github"
  | "aws"
  | "slack"
  | "jwt"
  | "bearer"
  | "token"
  | "url"
  | "known"
  | "fault";

/** No character of `word` precedes; the letter of a line end as JSON spells it (`\n`) does not count. */
const after = (word: string): string => String.raw`(?:(?<![${word}])|(?<=\\[bfnrt])|(?<=\\u[0-9a-f]{4}))`;

const ROWS: readonly (readonly [kind: SecretKind, pattern: string])[] = [
  [
    "pem",
    // line ends also as JSON spells them, at any depth of escaping
    String.raw`-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----(?:[A-Za-z0-9+/=:,\s]|-(?!----)|\\{1,8}[nrt]){16,60000}` +
      "(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----)?",
  ],
  ["sk", `${after("A-Za-z0-9_-")}sk-(?=[A-Za-z_-]{0,80}[0-9])[A-Za-z0-9_-]{16,1000}`],
  ["github", `${after("A-Za-z0-9_")}(?:gh[pousr]_[A-Za-z0-9]{20,250}|github_pat_[A-Za-z0-9_]{20,250})`],
  ["aws", `${after("A-Za-z0-9")}(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Z0-9])`],
  ["slack", `${after("A-Za-z0-9")}xox[abeoprs]-[A-Za-z0-9-]{10,500}`],
  [
    "jwt",
    // its claims may be longer than what a stream holds back, so that it is one before its signature is there
    `${after("A-Za-z0-9_-")}eyJ[A-Za-z0-9_-]{8,1000}[.]eyJ[A-Za-z0-9_-]{8,50000}(?:[.][A-Za-z0-9_-]{0,2000})?`,
  ],
  [
    "bearer",
    `${after("A-Za-z0-9_")}[Bb][Ee][Aa][Rr][Ee][Rr] {1,4}(?=[A-Za-z._~+/=-]{0,80}[0-9])[A-Za-z0-9._~+/=-]{16,50000}`,
  ],
  // a capability token of ours
  ["token", `${after("A-Za-z0-9_")}cap_[0-9]{1,16}_[A-Za-z0-9_-]{43}`],
  [
    "url",
    String.raw`(?<=:\/\/)[^\s/:@"'<>\\[\]]{0,200}:(?!\[redacted:)[^\s/@"'<>\\]{3,500}(?=@[A-Za-z0-9[])`,
  ],
];

/** One expression with a named group for each kind. */
function patternOf(): RegExp {
  return new RegExp(ROWS.map(([kind, pattern]) => `(?<${kind}>${pattern})`).join("|"), "g");
}

const KINDS: readonly SecretKind[] = ROWS.map(([kind]) => kind);
