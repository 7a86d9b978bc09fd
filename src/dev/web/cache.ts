/**
 * A cache of fetched pages for the whole daemon: 15 minutes, at most 50 MB; the least recently used page is removed
 * first.
 */
export interface CachedPage {
  readonly finalUrl: string;
  readonly status: number;
  readonly contentType: string;
  readonly body: Buffer;
}

const MAX_AGE_MS = 15 * 60 * 1000;
const MAX_BYTES = 50 * 1024 * 1024;
/** The assumed cost of an entry in addition to its body. */
const ENTRY_BYTES = 1024;

export class PageCache {
  readonly #pages = new Map<string, { page: CachedPage; untilMs: number }>();
  readonly #mono: () => number;
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(mono: () => number, maxBytes = MAX_BYTES) {
    this.#mono = mono;
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): CachedPage | undefined {
    const found = this.#pages.get(key);
    if (found === undefined) return undefined;
    this.#delete(key);
    if (found.untilMs <= this.#mono()) return undefined;
    this.#set(key, found);
    return found.page;
  }

  put(key: string, page: CachedPage): void {
    this.#delete(key);
    if (sizeOf(page) > this.#maxBytes) return;
    this.#set(key, { page, untilMs: this.#mono() + MAX_AGE_MS });
    for (const oldest of this.#pages.keys()) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#delete(oldest);
    }
  }

  #set(key: string, kept: { page: CachedPage; untilMs: number }): void {
    this.#pages.set(key, kept);
    this.#bytes += sizeOf(kept.page);
  }

  #delete(key: string): void {
    const found = this.#pages.get(key);
    if (found === undefined) return;
    this.#pages.delete(key);
    this.#bytes -= sizeOf(found.page);
  }
}

function sizeOf({ body }: CachedPage): number {
  return body.byteLength + ENTRY_BYTES;
}
