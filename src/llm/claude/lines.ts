/** Lines of a child's output as they come. Bounded: a child that is not kept up with is cut off. */
import { StringDecoder } from "node:string_decoder";

const MAX_QUEUED_CHARS = 32 * 1024 * 1024;

export class LineQueue {
  readonly #decoder = new StringDecoder("utf8");
  #partial: string[] = [];
  #lines: string[] = [];
  #chars = 0;
  #isOver = false;
  #hasOverflowed = false;
  #changed = Promise.withResolvers<void>();

  /** More came than the queue holds; what came after is lost. */
  get hasOverflowed(): boolean {
    return this.#hasOverflowed;
  }

  push(chunk: Uint8Array): void {
    if (this.#hasOverflowed) return;
    const pieces = this.#decoder.write(Buffer.from(chunk)).split("\n");
    const rest = pieces.pop() ?? "";
    for (const piece of pieces) {
      this.#lines.push(this.#partial.join("") + piece);
      this.#partial = [];
    }
    this.#partial.push(rest);
    this.#chars += chunk.byteLength;
    this.#hasOverflowed = this.#chars > MAX_QUEUED_CHARS;
    this.#notify();
  }

  /** No more output will come. A last line without its end counts. */
  end(): void {
    const rest = this.#partial.join("");
    if (rest !== "") this.#lines.push(rest);
    this.#partial = [];
    this.#isOver = true;
    this.#notify();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string> {
    for (;;) {
      const lines = this.#lines;
      this.#lines = [];
      this.#chars = this.#partial.reduce((sum, { length }) => sum + length, 0);
      yield* lines;
      if (this.#lines.length > 0) continue;
      if (this.#isOver || this.#hasOverflowed) return;
      await this.#changed.promise;
    }
  }

  #notify(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }
}
