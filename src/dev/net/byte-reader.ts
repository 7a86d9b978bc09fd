/**
 * Reads the beginning of a stream in pieces of a known length; unread bytes can be returned to the stream. Bounded.
 */
import type { Duplex } from "node:stream";

export class ByteReader {
  readonly #stream: Duplex;
  #bytes: Buffer = Buffer.alloc(0);

  constructor(stream: Duplex) {
    this.#stream = stream;
  }

  /** Rejects if the stream ends first. */
  async peek(length: number): Promise<Buffer> {
    while (this.#bytes.length < length) await this.more();
    return this.#bytes.subarray(0, length);
  }

  async take(length: number): Promise<Buffer> {
    const taken = await this.peek(length);
    this.#bytes = this.#bytes.subarray(length);
    return taken;
  }

  /** Takes everything up to and including `mark`, as text. Rejects if it does not come within `maxBytes`. */
  async until(mark: string, maxBytes: number): Promise<string> {
    for (;;) {
      const at = this.#bytes.indexOf(mark, 0, "latin1");
      if (at >= 0) return (await this.take(at + mark.length)).toString("latin1");
      if (this.#bytes.length > maxBytes) throw new Error("the request is too long");
      await this.more();
    }
  }

  /** The bytes that were read but not taken. */
  get seen(): Buffer {
    return this.#bytes;
  }

  async more(): Promise<void> {
    const chunk = await nextChunk(this.#stream);
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
  }

  /** Returns the stream, with the bytes that were read but not taken. */
  giveBack(): Duplex {
    if (this.#bytes.length > 0) this.#stream.unshift(this.#bytes);
    this.#bytes = Buffer.alloc(0);
    return this.#stream;
  }
}

function nextChunk(stream: Duplex): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const look = () => {
      const chunk: Buffer | null = stream.read();
      if (chunk !== null) settle(() => resolve(chunk));
    };
    const over = () => settle(() => reject(new Error("the connection is over")));
    const settle = (act: () => void) => {
      stream.off("readable", look).off("end", over).off("close", over).off("error", over);
      act();
    };
    stream.on("readable", look).on("end", over).on("close", over).on("error", over);
    if (stream.destroyed || stream.readableEnded) over();
    else look();
  });
}
