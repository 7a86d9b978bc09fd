/**
 * Filters the output of `rg --null -n --column`: cuts long lines to a window around their first match, and removes
 * the columns. It works as a stream: a line of any length takes no more memory than its window.
 */
import { withoutBrokenEnd, withoutBrokenStart } from "../../lib/text/utf8.ts";

const MAX_LINE_BYTES = 2_000;
/** Bytes before the match, in a window that does not start at the beginning of its line. */
const LEAD_BYTES = 200;
/** At least this much of a match is shown. */
const MATCH_BYTES = 500;
/** Bytes needed after the path to read the line number, its separator and the column. */
const HEAD_BYTES = 32;
const NEWLINE = 10;
const CUT = Buffer.from("…");

export class LongLines {
  #out: Buffer[] = [];
  /** The start of the current line, while its head is incomplete. */
  #begun = Buffer.alloc(0);
  #line: Line | undefined;

  push(chunk: Buffer): Buffer {
    for (let at = 0; at < chunk.byteLength; ) {
      const newline = chunk.indexOf(NEWLINE, at);
      const end = newline === -1 ? chunk.byteLength : newline;
      this.#take(chunk.subarray(at, end), newline !== -1);
      at = end + 1;
    }
    const given = Buffer.concat(this.#out);
    this.#out = [];
    return given;
  }

  /** Ends the stream; returns a last line without a newline. */
  end(): Buffer {
    return this.#line === undefined && this.#begun.byteLength === 0
      ? Buffer.alloc(0)
      : this.push(Buffer.from("\n")).subarray(0, -1);
  }

  #take(part: Buffer, isOver: boolean): void {
    if (this.#line === undefined) {
      this.#begun = Buffer.concat([this.#begun, part]);
      const nul = this.#begun.indexOf(0);
      if (!isOver && (nul === -1 || this.#begun.byteLength < nul + HEAD_BYTES)) return;
      this.#line = lineOf(this.#begun, nul);
      this.#begun = Buffer.alloc(0);
    } else this.#line.add(part);
    if (!isOver) return;
    this.#out.push(this.#line.shown(), Buffer.of(NEWLINE));
    this.#line = undefined;
  }
}

/** A line without a head (a message or a separator) is cut at its end. */
function lineOf(begun: Buffer, nul: number): Line {
  const head = begun.toString("latin1", nul + 1, nul + 1 + HEAD_BYTES);
  const found = nul === -1 ? null : /^(\d+(?:-|:(?=\d+:)))(?:(?<=:)(\d+):)?/.exec(head);
  const [all = "", number = "", column] = found ?? [];
  const line = new Line(begun.subarray(0, nul + 1 + number.length), Number(column ?? 1) - 1);
  line.add(begun.subarray(nul + 1 + all.length));
  return line;
}

class Line {
  readonly #head: Buffer;
  /** Where the window starts, in bytes of the line. */
  readonly #from: number;
  /** The first bytes of the line, used if the column counts from another line (multiline matches), and the window. */
  readonly #kept = { first: new Part(0), window: new Part(0) };
  #bytes = 0;

  constructor(head: Buffer, matchAt: number) {
    this.#head = Buffer.from(head);
    this.#from = matchAt + MATCH_BYTES <= MAX_LINE_BYTES ? 0 : matchAt - LEAD_BYTES;
    this.#kept.window = new Part(this.#from);
  }

  add(part: Buffer): void {
    for (const kept of Object.values(this.#kept)) kept.add(part, this.#bytes);
    this.#bytes += part.byteLength;
  }

  shown(): Buffer {
    const { first, window } = this.#kept;
    const isWhole = this.#bytes <= MAX_LINE_BYTES;
    const { from, bytes } = isWhole || this.#bytes <= this.#from ? first : window;
    const isToEnd = from + bytes.byteLength >= this.#bytes;
    const before = from === 0 ? [] : [CUT];
    const text = from === 0 ? bytes : withoutBrokenStart(bytes);
    return Buffer.concat([this.#head, ...before, ...(isToEnd ? [text] : [withoutBrokenEnd(text), CUT])]);
  }
}

/** A bounded part of a line, from byte `from` on. */
class Part {
  readonly from: number;
  #parts: Buffer[] = [];
  #size = 0;

  constructor(from: number) {
    this.from = from;
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#parts);
  }

  /** `at`: the position in the line of the first byte of `part`. */
  add(part: Buffer, at: number): void {
    const start = Math.max(0, this.from - at);
    const wanted = part.subarray(start, start + MAX_LINE_BYTES - this.#size);
    if (wanted.byteLength === 0) return;
    this.#parts.push(Buffer.from(wanted));
    this.#size += wanted.byteLength;
  }
}
