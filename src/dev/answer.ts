/** The answer to a written request: kept until it has been read, one at a time. */
import { driverError } from "./driver-error.ts";

const NOTHING = new Uint8Array(0);

export class Answer {
  #bytes: Uint8Array | undefined;
  #offset = 0;
  readonly #name: string;

  /** `name`: the device's name in error messages, such as `shell`. */
  constructor(name: string) {
    this.#name = name;
  }

  /** CONFLICT: an earlier answer is still unread. Drops an answer that was read. */
  expectRequest(): void {
    if (this.isUnread)
      throw driverError("Write", "CONFLICT", `${this.#name}: the last answer has not been read`);
    this.#bytes = undefined;
    this.#offset = 0;
  }

  /** True if there is an answer that has not been read completely. */
  get isUnread(): boolean {
    return this.#bytes !== undefined && this.#offset < this.#bytes.byteLength;
  }

  set(bytes: Uint8Array): void {
    this.#bytes = bytes;
    this.#offset = 0;
  }

  /** The next bytes; empty at the end, repeatedly, until the next request. INVALID: there was no request yet. */
  take(length: number): Uint8Array {
    if (this.#bytes === undefined)
      throw driverError("Read", "INVALID", `${this.#name}: write a request first, then read its answer`);
    const part = this.#bytes.subarray(this.#offset, this.#offset + length);
    this.#offset += part.byteLength;
    // at the end the bytes are dropped; only the fact that there was an answer is kept
    if (this.#offset === this.#bytes.byteLength) this.#forgetBytes();
    return part;
  }

  clear(): void {
    this.#bytes = undefined;
  }

  #forgetBytes(): void {
    this.#bytes = NOTHING;
    this.#offset = 0;
  }
}

export function jsonBytes(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value), "utf8");
}
