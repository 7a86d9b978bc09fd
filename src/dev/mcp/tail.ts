/** The last bytes of a stream, for the words about its end. */
import { stripVTControlCharacters } from "node:util";

export class Tail {
  readonly #maxBytes: number;
  #bytes = Buffer.alloc(0);

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  push(chunk: Uint8Array): void {
    const joined = Buffer.concat([this.#bytes, chunk]);
    // a copy: a view would keep all that came before
    this.#bytes = Buffer.from(joined.subarray(Math.max(0, joined.byteLength - this.#maxBytes)));
  }

  /** The last lines that say something, on one line, at most `maxChars`. */
  words(maxChars: number): string {
    const text = stripVTControlCharacters(this.#bytes.toString("utf8"))
      .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, " ")
      .trim();
    return text.length <= maxChars ? text : `… ${text.slice(2 - maxChars)}`;
  }
}
