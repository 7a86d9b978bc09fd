/**
 * Finds known secret values anywhere in a text: as they are, as JSON spells them, in base64 at each of its three
 * alignments, in URLs and in hex. Uses Wu and Manber's shift table, which examines only a few characters of the text.
 */

/** Shorter values are taken for ordinary words. */
export const MIN_KNOWN_CHARS = 8;
/** Longer values are searched by their parts. */
const PART_CHARS = 256;
/** The longest form of one part: a character takes up to nine in a URL. */
export const MAX_NEEDLE_CHARS = PART_CHARS * 9;

const BLOCK = 3;
const WINDOW = MIN_KNOWN_CHARS;
const TABLE = 1 << 16;

export interface KnownHit {
  readonly start: number;
  readonly end: number;
  /** The value itself, whatever form of it was found. */
  readonly value: string;
}

export class KnownValues {
  /** The value of each needle. */
  readonly #byNeedle = new Map<string, string>();
  readonly #shift = new Uint8Array(TABLE).fill(WINDOW - BLOCK + 1);
  /** Needles by the hash of the last block of their window, longest first. */
  readonly #ends = new Map<number, string[]>();
  /** The first bytes of each needle, as latin1. */
  readonly #heads = new Set<string>();
  /** Those, less one byte or more at their ends. */
  readonly #beginnings = new Set<string>();

  constructor(values: Iterable<string>) {
    for (const value of values)
      for (const part of partsOf(value)) for (const needle of formsOf(part)) this.#add(needle, value);
    for (const needles of this.#ends.values()) needles.sort((a, b) => b.length - a.length);
  }

  /** The first hit at or after `from`; of several that begin there, the longest. null: no hit. */
  find(text: string, from: number): KnownHit | null {
    if (this.#byNeedle.size === 0) return null;
    const shift = this.#shift;
    for (let end = from + WINDOW; end <= text.length; ) {
      const hash = hashAt(text, end - BLOCK);
      const step = shift[hash] as number;
      if (step > 0) end += step;
      else {
        const start = end - WINDOW;
        const needle = this.#ends.get(hash)?.find((each) => text.startsWith(each, start));
        if (needle !== undefined)
          return { start, end: start + needle.length, value: this.#byNeedle.get(needle) as string };
        end++;
      }
    }
    return null;
  }

  /** Whether one may begin in these bytes; not those of which only a part of the window is there. */
  mayBegin(bytes: Buffer): boolean {
    if (this.#heads.size === 0) return false;
    const shift = this.#shift;
    for (let end = WINDOW; end <= bytes.length; ) {
      const step = shift[hashOf(bytes[end - 3], bytes[end - 2], bytes[end - 1])] as number;
      if (step > 0) end += step;
      else if (this.#heads.has(bytes.toString("latin1", end - WINDOW, end))) return true;
      else end++;
    }
    return false;
  }

  /** Whether one begins at the end of this text, with less than its window. */
  isBegun(text: string): boolean {
    const end = Buffer.from(text)
      .toString("latin1")
      .slice(1 - WINDOW);
    for (let at = 0; at < end.length; at++) if (this.#beginnings.has(end.slice(at))) return true;
    return false;
  }

  #add(needle: string, value: string): void {
    if (needle.length < MIN_KNOWN_CHARS || this.#byNeedle.has(needle)) return;
    this.#byNeedle.set(needle, value);
    for (let at = 0; at <= WINDOW - BLOCK; at++) {
      const hash = hashAt(needle, at);
      this.#shift[hash] = Math.min(this.#shift[hash] as number, WINDOW - BLOCK - at);
    }
    const head = Buffer.from(needle).toString("latin1", 0, WINDOW);
    this.#heads.add(head);
    for (let length = 1; length < WINDOW; length++) this.#beginnings.add(head.slice(0, length));
    for (let at = 0; at <= WINDOW - BLOCK; at++) {
      const hash = hashAt(head, at);
      this.#shift[hash] = Math.min(this.#shift[hash] as number, WINDOW - BLOCK - at);
    }
    const last = hashAt(needle, WINDOW - BLOCK);
    const same = this.#ends.get(last);
    if (same === undefined) this.#ends.set(last, [needle]);
    else same.push(needle);
  }
}

function hashAt(text: string, at: number): number {
  return hashOf(text.charCodeAt(at), text.charCodeAt(at + 1), text.charCodeAt(at + 2));
}

function hashOf(a = 0, b = 0, c = 0): number {
  return (a ^ (b << 5) ^ (c << 10) ^ (c >> 6)) & (TABLE - 1);
}

function partsOf(value: string): readonly string[] {
  const parts: string[] = [];
  for (let at = 0; at < value.length; at += PART_CHARS) parts.push(value.slice(at, at + PART_CHARS));
  return parts.filter((part) => part.length >= MIN_KNOWN_CHARS);
}

function formsOf(value: string): readonly string[] {
  const bytes = Buffer.from(value);
  const hex = bytes.toString("hex");
  const base64 = [0, 1, 2].map((before) => base64At(bytes, before));
  return [
    value,
    JSON.stringify(value).slice(1, -1),
    encodeURIComponent(value.toWellFormed()),
    hex,
    hex.toUpperCase(),
    ...base64,
    ...base64.map((text) => text.replaceAll("+", "-").replaceAll("/", "_")),
  ];
}

/** The base64 characters that are certain when `before` other bytes precede the value in its group of three. */
function base64At(bytes: Buffer, before: number): string {
  const text = Buffer.concat([Buffer.alloc(before), bytes])
    .toString("base64")
    .replace(/=+$/, "");
  const ofOthers = Math.ceil((before * 8) / 6);
  const isWhole = (before + bytes.length) % 3 === 0;
  return text.slice(ofOthers, isWhole ? undefined : -1);
}
