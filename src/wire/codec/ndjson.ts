/**
 * The lines of the text wire: UTF-8, one JSON object per line, ended by `\n`. Shared by server and client; pure and
 * bounded.
 */
import { isUtf8 } from "node:buffer";
import type { SyscallEventWire } from "../../abi/wire.ts";

const LF = 0x0a;
const CR = 0x0d;
/** A partial buffer larger than this is released after its long line; a smaller one is kept for the next line. */
const KEEP_BYTES = 64 * 1024;

/** Encodes a value as one line, without blanks between tokens. */
export function encodeLine(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

/** A `syscall_event` line: `duration_ms` has one to three decimals, which JSON.stringify would drop. */
export function encodeSyscallEvent(event: SyscallEventWire): string {
  const { duration_ms, device, traffic, quiet, ...head } = event;
  const tail = JSON.stringify({ device, traffic, quiet }).slice(1, -1);
  const payload = `${JSON.stringify(head).slice(0, -1)},"duration_ms":${formatDuration(duration_ms)}`;
  return `{"type":"syscall_event","payload":${payload}${tail === "" ? "" : `,${tail}`}}}\n`;
}

/** Formats with one to three decimals: `1.0`, `5200.0`, `0.042`. */
export function formatDuration(ms: number): string {
  return ms.toFixed(3).replace(/(\.\d)(\d*?)0+$/, "$1$2");
}

/** Throws a SyntaxError whose message names the cause. */
export function parseLine(line: Buffer): unknown {
  if (!isUtf8(line)) throw new SyntaxError("not UTF-8");
  return JSON.parse(line.toString("utf8"));
}

export type Decoded = { readonly kind: "line"; readonly line: Buffer } | { readonly kind: "too_long" };

/**
 * Cuts chunks into lines. A `\r` before the `\n` and empty lines are dropped. A line over `maxBytes` yields `too_long`
 * once, as soon as the bound is passed; the rest of the input is ignored. Holds at most `maxBytes`: the unfinished line
 * is kept in one buffer that doubles, so many small chunks cost neither memory nor quadratic copying.
 */
export class LineDecoder {
  readonly #maxBytes: number;
  #partial: Buffer = Buffer.alloc(0);
  #length = 0;
  #failed = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The bytes of the unfinished line. */
  get pending(): number {
    return this.#length;
  }

  push(chunk: Buffer): Decoded[] {
    const out: Decoded[] = [];
    let start = 0;
    while (!this.#failed && start < chunk.length) {
      const found = chunk.indexOf(LF, start);
      const end = found < 0 ? chunk.length : found;
      if (this.#length + end - start > this.#maxBytes) return [...out, this.#fail()];
      if (found < 0) {
        this.#keep(chunk.subarray(start, end));
        break;
      }
      const line = trimCr(this.#complete(chunk.subarray(start, end)));
      if (line.length > 0) out.push({ kind: "line", line });
      start = end + 1;
    }
    return out;
  }

  #complete(rest: Buffer): Buffer {
    if (this.#length === 0) return rest;
    this.#keep(rest);
    const line = Buffer.from(this.#partial.subarray(0, this.#length));
    this.#length = 0;
    if (this.#partial.length > KEEP_BYTES) this.#partial = Buffer.alloc(0);
    return line;
  }

  #keep(bytes: Buffer): void {
    const needed = this.#length + bytes.length;
    if (needed > this.#partial.length) {
      const grown = Buffer.allocUnsafe(
        Math.min(Math.max(needed, 2 * this.#partial.length, 1024), this.#maxBytes),
      );
      this.#partial.copy(grown, 0, 0, this.#length);
      this.#partial = grown;
    }
    bytes.copy(this.#partial, this.#length);
    this.#length = needed;
  }

  #fail(): Decoded {
    this.#failed = true;
    this.#length = 0;
    this.#partial = Buffer.alloc(0);
    return { kind: "too_long" };
  }
}

function trimCr(line: Buffer): Buffer {
  return line.at(-1) === CR ? line.subarray(0, -1) : line;
}
