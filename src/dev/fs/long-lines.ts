/**
 * What `rg --null -n --column` prints, with long lines cut to a window that has their first match in it, and without the
 * columns. A stream in, a stream out: a line of any length takes no more memory than its window.
 */
import { withoutBrokenEnd, withoutBrokenStart } from "../../lib/utf8.ts";

const MAX_LINE_BYTES = 2_000;
/** Of a window that does not begin with its line: what stands before the match. */
const LEAD_BYTES = 200;
/** As much of a match is shown at least. */
const MATCH_BYTES = 500;
/** A line number, its mark, a column: as much is needed behind the path to read them. */
const HEAD_BYTES = 32;
const NEWLINE = 10;
const CUT = Buffer.from("…");

export class LongLines {
  #out: Buffer[] = [];
  /** Of the line in progress, while its head is not known. */
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

  /** A last line without an end. */
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

/** Without a head, as a remark or a separator: it is cut at its end. */
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
  /** Where the window begins, in bytes of the line. */
  readonly #from: number;
  /** Its first bytes, for a match that is counted from another line, and its window. */
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

/** Bytes of a line from one of them on. */
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

  /** `at`: of its first byte in the line. */
  add(part: Buffer, at: number): void {
    const start = Math.max(0, this.from - at);
    const wanted = part.subarray(start, start + MAX_LINE_BYTES - this.#size);
    if (wanted.byteLength === 0) return;
    this.#parts.push(Buffer.from(wanted));
    this.#size += wanted.byteLength;
  }
}
