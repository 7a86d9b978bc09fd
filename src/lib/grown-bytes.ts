/** A text as UTF-8 that grows at its end, in a buffer that it shares with what it grew from. Does not change. */
export interface GrownBytes {
  readonly length: number;
  /** Its own bytes come first; behind them are those of what has grown from it. */
  readonly buffer: Buffer;
  /** Up to where the buffer is in use. */
  readonly end: { at: number };
}

export const NO_BYTES: GrownBytes = { length: 0, buffer: Buffer.alloc(0), end: { at: 0 } };

/** Room beyond what is needed, as a part of it: a long text is rarely copied, and little memory waits. */
const SPARE = 0.25;

/** Encodes only `text`. What is there is copied if something else has grown from it, or no room is left. */
export function grownBy(before: GrownBytes, text: string): GrownBytes {
  const added = Buffer.byteLength(text);
  const length = before.length + added;
  let { buffer, end } = before;
  if (end.at !== before.length || buffer.byteLength < length) {
    buffer = Buffer.allocUnsafeSlow(Math.ceil(length * (1 + SPARE)));
    before.buffer.copy(buffer, 0, 0, before.length);
    end = { at: 0 };
  }
  buffer.write(text, before.length, added, "utf8");
  end.at = length;
  return { length, buffer, end };
}

/** A view, not a copy. */
export function bytesOf({ buffer, length }: GrownBytes): Buffer {
  return buffer.subarray(0, length);
}

/** In one piece of its own. */
export function joined(parts: readonly (string | GrownBytes)[]): Buffer {
  return Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : bytesOf(part))));
}
