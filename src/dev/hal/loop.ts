/** A device that gives back what is written to it, like a serial line whose ends are joined. It loses nothing. */
import type { HalChannel, HalDriver, HalPiece, HalReading } from "../../kernel/ports/hal.ts";
import { abortable } from "../../lib/abort.ts";

/** Beyond, a write waits for readers. */
const HELD_BYTES = 65_536;

export function loopDriver(id: string): HalDriver {
  const line = new Line();
  return {
    identity: { id, kind: "virtual", name: "loopback", driver: "loop", modes: ["read", "write", "stream"] },
    isHarmless: true,
    meta: () => ({ bufferBytes: HELD_BYTES, bufferedBytes: line.bytes, overflow: "block" }),
    open: async () => new LoopChannel(line),
  };
}

/** What is on its way. */
class Line {
  #held = Buffer.alloc(0);
  #change = Promise.withResolvers<void>();

  get bytes(): number {
    return this.#held.byteLength;
  }

  /** Resolves when bytes come or go. */
  get changed(): Promise<void> {
    return this.#change.promise;
  }

  /** How many bytes it has taken. */
  put(data: Uint8Array): number {
    const part = data.subarray(0, HELD_BYTES - this.#held.byteLength);
    this.#held = Buffer.concat([this.#held, part]);
    this.#tell();
    return part.byteLength;
  }

  take(length: number): Uint8Array {
    const part = this.#held.subarray(0, length);
    this.#held = this.#held.subarray(part.byteLength);
    this.#tell();
    return part;
  }

  #tell(): void {
    this.#change.resolve();
    this.#change = Promise.withResolvers<void>();
  }
}

class LoopChannel implements HalChannel {
  readonly #line: Line;

  constructor(line: Line) {
    this.#line = line;
  }

  async read(length: number, _reading: HalReading, signal: AbortSignal): Promise<HalPiece> {
    signal.throwIfAborted();
    while (this.#line.bytes === 0) await abortable(this.#line.changed, signal);
    return { data: this.#line.take(length), isEnd: false };
  }

  async write(data: Uint8Array, _offset: number | undefined, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    for (let rest = data.subarray(this.#line.put(data)); rest.byteLength > 0; ) {
      await abortable(this.#line.changed, signal);
      rest = rest.subarray(this.#line.put(rest));
    }
  }

  async close(): Promise<void> {}
}
