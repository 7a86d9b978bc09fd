/**
 * The first and the last part of a stream, in bounded memory: the bytes in between are dropped as they leave the last
 * part.
 */
import { withoutBrokenEnd, withoutBrokenStart } from "../lib/text/utf8.ts";

const pageBytes = 64 * 1024;
/** Most commands print less: a page is made this small, and larger as it fills. */
const firstBytes = 1024;

export class Pages {
  readonly #headPages: number;
  readonly #tailPages: number;
  /** All pages but the last are full, and `pageBytes` long. The first `#headPages` are never dropped. */
  readonly #pages: Buffer[] = [];
  #lastBytes = pageBytes;
  #totalBytes = 0;

  /** Each of the two parts holds `partBytes`, a multiple of 64 KiB. */
  constructor(partBytes: number) {
    this.#headPages = partBytes / pageBytes;
    // while the last page fills, one more page is needed to hold a whole part
    this.#tailPages = this.#headPages + 1;
  }

  get totalBytes(): number {
    return this.#totalBytes;
  }

  get isCut(): boolean {
    return this.#totalBytes > 2 * this.#headPages * pageBytes;
  }

  /** Copies the chunk: otherwise many small chunks would keep many small buffers alive. */
  add(chunk: Buffer): void {
    this.#totalBytes += chunk.byteLength;
    for (let at = 0; at < chunk.byteLength; ) {
      if (this.#lastBytes === pageBytes) this.#turn();
      const page = this.#pageFor(this.#lastBytes + chunk.byteLength - at);
      const copied = chunk.copy(page, this.#lastBytes, at);
      this.#lastBytes += copied;
      at += copied;
    }
  }

  /** The text, as UTF-8; a character split by the cut is left out. */
  text(): string {
    const bytes = joined(this.#pages).subarray(0, this.#keptBytes());
    if (!this.isCut) return bytes.toString("utf8");
    const part = this.#headPages * pageBytes;
    const missing = this.#totalBytes - 2 * part;
    const head = withoutBrokenEnd(bytes.subarray(0, part));
    const tail = withoutBrokenStart(bytes.subarray(bytes.byteLength - part));
    return `${head.toString("utf8")}\n... [${missing} bytes left out] ...\n${tail.toString("utf8")}`;
  }

  /** The last bytes as text; `maxBytes` is at most one page. */
  tail(maxBytes: number): string {
    const bytes = joined(this.#pages.slice(-2)).subarray(0, this.#lastTwoBytes());
    return withoutBrokenStart(bytes.subarray(Math.max(0, bytes.byteLength - maxBytes))).toString("utf8");
  }

  #lastTwoBytes(): number {
    if (this.#pages.length === 0) return 0;
    return this.#lastBytes + (this.#pages.length > 1 ? pageBytes : 0);
  }

  #turn(): void {
    if (this.#pages.length === this.#headPages + this.#tailPages) this.#pages.splice(this.#headPages, 1);
    this.#pages.push(Buffer.allocUnsafe(firstBytes));
    this.#lastBytes = 0;
  }

  /** The last page, with room for so many bytes, at most a whole page. */
  #pageFor(bytes: number): Buffer {
    const page = this.#pages.at(-1) as Buffer;
    const wanted = Math.min(pageBytes, bytes);
    if (page.byteLength >= wanted) return page;
    const larger = Buffer.allocUnsafe(Math.min(pageBytes, Math.max(wanted, 4 * page.byteLength)));
    page.copy(larger, 0, 0, this.#lastBytes);
    this.#pages[this.#pages.length - 1] = larger;
    return larger;
  }

  #keptBytes(): number {
    return this.#pages.length === 0 ? 0 : (this.#pages.length - 1) * pageBytes + this.#lastBytes;
  }
}

function joined(pages: readonly Buffer[]): Buffer {
  const [only] = pages;
  return pages.length === 1 && only !== undefined ? only : Buffer.concat(pages);
}

/** Decodes bytes that more may follow: an incomplete character at the end is left for the next call. */
export function wholeCharacters(bytes: Uint8Array, isLast: boolean): { text: string; bytes: number } {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const whole = isLast ? all : withoutBrokenEnd(all);
  return { text: whole.toString("utf8"), bytes: whole.byteLength };
}
