/** Keeps the last lines of the bytes pushed, at most `maxBytes`. */
const NEWLINE = 10;

export class LineTail {
  readonly #lines: number;
  readonly #maxBytes: number;
  #kept = Buffer.alloc(0);

  constructor(lines: number, maxBytes: number) {
    this.#lines = lines;
    this.#maxBytes = maxBytes;
  }

  get bytes(): Uint8Array {
    return this.#kept;
  }

  push(chunk: Uint8Array): void {
    const all = Buffer.concat([this.#kept, chunk]);
    this.#kept = all.subarray(this.#startIn(all));
  }

  #startIn(all: Buffer): number {
    if (this.#lines === 0) return all.length;
    const floor = Math.max(0, all.length - this.#maxBytes);
    // a newline at the very end ends the last line and does not begin another
    let at = all.length - 1;
    for (let n = 0; n < this.#lines; n++) {
      at = at <= floor ? -1 : all.lastIndexOf(NEWLINE, at - 1);
      if (at < floor) return floor;
    }
    return at + 1;
  }
}
