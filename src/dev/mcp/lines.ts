/** Splits a stream of bytes into lines. A line that is too long ends it, as half a message is useless. */
const NEWLINE = 0x0a;
/** Bound on the pieces kept: single bytes would take a hundred times their size, so they are joined. */
const MAX_PARTS = 256;

export class LineSplitter {
  readonly #maxBytes: number;
  #parts: Uint8Array[] = [];
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The lines that end in this chunk, without line ends. null: a line is too long; nothing more is accepted. */
  push(chunk: Uint8Array): string[] | null {
    const lines: string[] = [];
    let from = 0;
    for (let to = chunk.indexOf(NEWLINE); to !== -1; to = chunk.indexOf(NEWLINE, from)) {
      const line = this.#take(chunk.subarray(from, to));
      if (line === null) return null;
      lines.push(line);
      from = to + 1;
    }
    return this.#keep(chunk.subarray(from)) ? lines : null;
  }

  #take(end: Uint8Array): string | null {
    if (!this.#keep(end)) return null;
    const line = Buffer.concat(this.#parts, this.#bytes).toString("utf8");
    this.#drop();
    return line.endsWith("\r") ? line.slice(0, -1) : line;
  }

  #keep(part: Uint8Array): boolean {
    if (this.#bytes + part.byteLength > this.#maxBytes) {
      this.#drop();
      return false;
    }
    if (part.byteLength > 0) this.#parts.push(part);
    if (this.#parts.length > MAX_PARTS) this.#parts = [Buffer.concat(this.#parts)];
    this.#bytes += part.byteLength;
    return true;
  }

  #drop(): void {
    this.#parts = [];
    this.#bytes = 0;
  }
}
