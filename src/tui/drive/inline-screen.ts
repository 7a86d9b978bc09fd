/**
 * The lower part of a terminal that keeps its scrollback: finished lines go above for good, the live part below is redrawn
 * where it changed. Nothing above the live part is ever written again.
 */
import type { Output } from "../../cli/terminal/streams.ts";
import { type Line, lineWidth, printed } from "../text/line.ts";
import type { Frame } from "../view/frame.ts";

const BEGIN = "\x1b[?2026h";
const END = "\x1b[?2026l";
/**
 * Everything from the row of the cursor on. The first row goes by itself: tmux takes a screen that is cleared from its first
 * cell on into the scrollback, and the live part would stand there for good.
 */
const ERASE = "\x1b[2K\x1b7\x1b[B\x1b[J\x1b8";

export class InlineScreen {
  readonly #output: Output;
  #shown: readonly string[] = [];
  #widths: readonly number[] = [];
  /** Row of the cursor in the live part. */
  #row = 0;
  #cursor = "";

  constructor(output: Output) {
    this.#output = output;
  }

  /** `done` is called when the terminal has taken it. */
  draw(above: readonly Line[], { lines, cursor }: Frame, done: () => void = () => {}): void {
    const rows = lines.map(printed);
    const text = above.length === 0 ? this.#changes(rows) : this.#all(above, rows);
    this.#shown = rows;
    this.#widths = lines.map(lineWidth);
    const key = `${cursor?.row} ${cursor?.column}`;
    const isSame = text === "" && key === this.#cursor;
    const place = this.#place(cursor);
    this.#cursor = key;
    if (isSame) done();
    else this.#output.write(`${BEGIN}${text}${place}${END}`, done);
  }

  /** The terminal has another width, in which the rows of the live part may have been folded: all is drawn anew. */
  resized(columns: number): void {
    const rows = this.#widths.slice(0, this.#row + 1);
    const above = rows.reduce((sum, width, at) => {
      const folded = Math.max(1, Math.ceil(width / Math.max(1, columns)));
      return sum + (at === rows.length - 1 ? 0 : folded);
    }, 0);
    this.#output.write(`\r${up(above)}${ERASE}`, () => {});
    this.#forget();
  }

  /** Takes the live part off the screen. */
  clear(): void {
    if (this.#shown.length > 0) this.#output.write(`${this.#home()}${ERASE}`, () => {});
    this.#forget();
  }

  #forget(): void {
    this.#shown = [];
    this.#widths = [];
    this.#row = 0;
    this.#cursor = "";
  }

  #home(): string {
    const moved = `\r${up(this.#row)}`;
    this.#row = 0;
    return moved;
  }

  #all(above: readonly Line[], rows: readonly string[]): string {
    const gone = this.#shown.length > 0;
    const start = this.#home();
    const finished = above.map((line) => `${printed(line)}\x1b[K\r\n`).join("");
    this.#row = Math.max(0, rows.length - 1);
    return `${start}${finished}${rows.join("\x1b[K\r\n")}\x1b[K${gone ? "\x1b[J" : ""}`;
  }

  #changes(rows: readonly string[]): string {
    const parts: string[] = [];
    for (const [at, row] of rows.entries()) {
      if (row === this.#shown[at]) continue;
      parts.push(this.#to(at), row, "\x1b[K");
    }
    if (rows.length < this.#shown.length) {
      // the last row stays, what is below it goes
      parts.push(this.#to(Math.max(0, rows.length - 1)), rows.length === 0 ? "" : "\r\x1b[B", "\x1b[J");
      if (rows.length > 0) this.#row++;
    }
    return parts.join("");
  }

  /** To the begin of a row, which is made where there was none. */
  #to(row: number): string {
    const below = Math.max(0, this.#shown.length - 1);
    let text = "\r";
    if (row > this.#row) {
      const down = Math.min(row, below) - this.#row;
      text += down > 0 ? `\x1b[${down}B` : "";
      text += "\r\n".repeat(row - Math.max(this.#row, Math.min(row, below)));
    } else text += up(this.#row - row);
    this.#row = row;
    return text;
  }

  #place(cursor: Frame["cursor"]): string {
    if (cursor === undefined) return "\x1b[?25l";
    const rows = cursor.row - this.#row;
    this.#row = cursor.row;
    const vertical = rows > 0 ? `\x1b[${rows}B` : up(-rows);
    return `${vertical}\x1b[${cursor.column + 1}G\x1b[?25h`;
  }
}

function up(rows: number): string {
  return rows > 0 ? `\x1b[${rows}A` : "";
}
