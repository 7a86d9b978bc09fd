import { safeLines } from "./safe-text.ts";

/** Bytes of a program that runs, on their way to a terminal: safe, whatever the chunks cut apart. */
export class SafeStream {
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  /** A return that ended a chunk: the first half of a line end, or alone. */
  #held = "";

  push(bytes: Uint8Array): string {
    return this.#safe(this.#held + this.#decoder.decode(bytes, { stream: true }), true);
  }

  /** What was still held. */
  end(): string {
    return this.#safe(this.#held + this.#decoder.decode(), false);
  }

  #safe(text: string, more: boolean): string {
    const isHeld = more && text.endsWith("\r");
    this.#held = isHeld ? "\r" : "";
    return safeLines(isHeld ? text.slice(0, -1) : text);
  }
}
