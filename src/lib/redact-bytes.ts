/** A stream of bytes of a program's output, which is read along, redacted as the text that it is; a character that is cut by a part comes with the next. */
import { StringDecoder } from "node:string_decoder";
import type { Redactor } from "./redact.ts";
import { RedactStream } from "./redact-stream.ts";

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
