/**
 * Redacts a program's output, a stream of bytes that is read live, as text; a character cut at a chunk's end is
 * completed by the next chunk.
 */
import { StringDecoder } from "node:string_decoder";
import type { Redactor } from "./redact.ts";
import { RedactStream } from "./stream.ts";

export class RedactedBytes {
  readonly #decoder = new StringDecoder("utf8");
  readonly #stream: RedactStream;

  constructor(redactor: Pick<Redactor, "scan">) {
    this.#stream = new RedactStream(redactor);
  }

  push(chunk: Uint8Array): Uint8Array {
    return Buffer.from(this.#stream.push(this.#decoder.write(Buffer.from(chunk)), true));
  }

  end(): Uint8Array {
    return Buffer.from(this.#stream.push(this.#decoder.end()) + this.#stream.end());
  }
}
