import { safeLines } from "./safe-text.ts";

/** Makes the output of a running program safe for a terminal, wherever the chunks are split. */
export class SafeStream {
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  /** A carriage return at the end of a chunk: either the first half of a line end, or alone. */
  #held = "";

  push(bytes: Uint8Array): string {
    return this.#safe(this.#held + this.#decoder.decode(bytes, { stream: true }), true);
  }

  /** The rest that was held back. */
  end(): string {
    return this.#safe(this.#held + this.#decoder.decode(), false);
  }

  #safe(text: string, more: boolean): string {
    const isHeld = more && text.endsWith("\r");
    this.#held = isHeld ? "\r" : "";
    return safeLines(isHeld ? text.slice(0, -1) : text);
  }
}
