/** Buffers the bytes of one reply between the attempt and the reader. One writer, one reader. */
import { DriverError } from "../abi/errors.ts";
import { abortable } from "../lib/abort.ts";

export class ReplyBuffer {
  readonly #device: string;
  readonly #maxBytes: number;
  readonly #waitsForReader: boolean;
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #end: { readonly error?: unknown } | undefined;
  /** What was pushed may be read before the end. */
  #isOffered = false;
  /** Resolved at every change; waiters then check again. */
  #changed = Promise.withResolvers<void>();

  /**
   * At `maxBytes` the writer waits for the reader or, if not `waitsForReader` because reading starts only afterwards,
   * the reply is refused.
   */
  constructor(device: string, maxBytes: number, waitsForReader: boolean) {
    this.#device = device;
    this.#maxBytes = maxBytes;
    this.#waitsForReader = waitsForReader;
  }

  /** Whether there is unread data, or more to come. The rest of a failed reply does not count. */
  get isUnread(): boolean {
    return this.#end?.error === undefined && (this.#bytes > 0 || this.#end === undefined);
  }

  async push(text: string, signal: AbortSignal): Promise<void> {
    while (this.#bytes >= this.#maxBytes) {
      if (!this.#waitsForReader)
        throw new DriverError({
          code: "DRIVER",
          op: "Write",
          device: this.#device,
          message: `the reply is over ${this.#maxBytes} bytes`,
        });
      await abortable(this.#changed.promise, signal);
    }
    const chunk = new TextEncoder().encode(text);
    this.#chunks.push(chunk);
    this.#bytes += chunk.byteLength;
    this.#notify();
  }

  /** Lets `ahead` resolve, if anything is unread. */
  offer(): void {
    if (this.#bytes === 0) return;
    this.#isOffered = true;
    this.#notify();
  }

  /** True as soon as a part is offered; false once the reply has ended or failed. */
  async ahead(signal: AbortSignal): Promise<boolean> {
    while (this.#end === undefined && !this.#isOffered) await abortable(this.#changed.promise, signal);
    return this.#end === undefined;
  }

  end(): void {
    this.#end ??= {};
    this.#notify();
  }

  /** Ends the reply with an error: pushed data can still be read, then reads fail with this error. */
  fail(error: unknown): void {
    this.#end ??= { error };
    this.#notify();
  }

  /** Reads up to `length` bytes, as soon as there are any; an empty result is the end. */
  async read(length: number, signal: AbortSignal): Promise<Uint8Array> {
    while (this.#bytes === 0) {
      if (this.#end?.error !== undefined) throw this.#end.error;
      if (this.#end !== undefined) return new Uint8Array();
      await abortable(this.#changed.promise, signal);
    }
    return this.#take(length);
  }

  #take(length: number): Uint8Array {
    const out = new Uint8Array(Math.min(length, this.#bytes));
    let filled = 0;
    let used = 0;
    while (filled < out.byteLength) {
      const chunk = this.#chunks[used] as Uint8Array;
      const part = chunk.subarray(0, out.byteLength - filled);
      out.set(part, filled);
      filled += part.byteLength;
      if (part.byteLength < chunk.byteLength) this.#chunks[used] = chunk.subarray(part.byteLength);
      else used++;
    }
    this.#chunks = this.#chunks.slice(used);
    this.#bytes -= filled;
    if (this.#bytes === 0) this.#isOffered = false;
    this.#notify();
    return out;
  }

  #notify(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }
}
