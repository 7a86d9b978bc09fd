/**
 * Cuts the output of a program into lines. `\n`, `\r\n` and a lone `\r` end a line, so that a progress bar comes line by
 * line. Long lines are cut into pieces, never within a character. Bytes that are not UTF-8 become U+FFFD.
 */
import { IPC } from "../../../abi/ipc.ts";

const LF = 0x0a;
const CR = 0x0d;

export interface SplitLine {
  readonly text: string;
  /** The bytes that it takes in the stream, its end included. */
  readonly bytes: number;
  /** A piece of a longer line. */
  readonly isPartial: boolean;
}

export class LineSplitter {
  #rest: Buffer = Buffer.alloc(0);
  /** The last line ended with `\r`: a `\n` that follows belongs to it. */
  #skipsLf = false;
  /** Bytes that belong to no line: a `\n` after a `\r`. They are counted with the next line. */
  #skipped = 0;

  /** The bytes that are not in a line yet. */
  get pending(): number {
    return this.#rest.length + this.#skipped;
  }

  push(chunk: Uint8Array): SplitLine[] {
    const lines: SplitLine[] = [];
    let bytes = this.#rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#rest, chunk]);
    while (bytes.length > 0) {
      if (this.#skipsLf && bytes[0] === LF) {
        bytes = bytes.subarray(1);
        this.#skipped++;
      }
      this.#skipsLf = false;
      const end = endOf(bytes);
      if (end < 0 && bytes.length <= IPC.maxLineBytes) break;
      const isPartial = end < 0 || end > IPC.maxLineBytes;
      const length = isPartial ? wholeBelow(bytes, IPC.maxLineBytes) : end;
      this.#skipsLf = !isPartial && bytes[end] === CR;
      const taken = length + (isPartial ? 0 : 1);
      lines.push(this.#line(bytes.subarray(0, length), taken, isPartial));
      bytes = bytes.subarray(taken);
    }
    this.#rest = Buffer.from(bytes);
    return lines;
  }

  /** The unfinished last line, if there is one. */
  end(): SplitLine[] {
    const rest = this.#rest;
    this.#rest = Buffer.alloc(0);
    return rest.length === 0 ? [] : [this.#line(rest, rest.length, false)];
  }

  /** Bytes were dropped: what was begun is not continued. */
  restart(): SplitLine[] {
    this.#skipsLf = false;
    return this.end();
  }

  #line(text: Buffer, taken: number, isPartial: boolean): SplitLine {
    const bytes = taken + this.#skipped;
    this.#skipped = 0;
    return { text: text.toString("utf8"), bytes, isPartial };
  }
}

function endOf(bytes: Buffer): number {
  const lf = bytes.indexOf(LF);
  const cr = bytes.subarray(0, lf < 0 ? bytes.length : lf).indexOf(CR);
  return cr < 0 ? lf : cr;
}

/** At most `limit` bytes, without the beginning of a character that goes on behind them. */
function wholeBelow(bytes: Buffer, limit: number): number {
  for (let at = limit; at > limit - 4; at--) if (((bytes[at] ?? 0) & 0xc0) !== 0x80) return at;
  return limit;
}
