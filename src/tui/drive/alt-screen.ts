/**
 * The whole screen, beside the one that the shell has: for views that leave the conversation as it is, and for all of it where the
 * user wants that. It is left with the last who holds it. Changed rows only, and all of them after a resize.
 */
import type { Output } from "../../cli/terminal/streams.ts";
import { type Line, printed } from "../text/line.ts";
import type { Frame } from "../view/frame.ts";

const ENTER = "\x1b[?1049h\x1b[?25l\x1b[2J";
const HIDDEN = "\x1b[?25l";
const LEAVE = "\x1b[?1049l\x1b[?25h";

/** Calls `undo` when the process ends in any way but a kill; returns what takes that back. */
export type OnEnd = (undo: () => void) => () => void;

export class AltScreen {
  readonly #output: Output;
  readonly #onEnd: OnEnd;
  #release: () => void = () => {};
  #holders = 0;
  #shown: readonly string[] = [];
  #place = "";

  constructor(output: Output, onEnd: OnEnd) {
    this.#output = output;
    this.#onEnd = onEnd;
  }

  enter(): void {
    if (this.#holders++ > 0) return;
    this.#shown = [];
    this.#place = HIDDEN;
    this.#release = this.#onEnd(() => this.#write(LEAVE));
    this.#write(ENTER);
  }

  leave(): void {
    if (--this.#holders > 0) return;
    this.#release();
    this.#write(LEAVE);
  }

  draw(lines: readonly Line[], cursor?: Frame["cursor"]): void {
    const rows = lines.map(printed);
    const changed = rows
      .map((row, at) => (row === this.#shown[at] ? "" : `\x1b[${at + 1};1H${row}\x1b[K`))
      .join("");
    const rest = rows.length < this.#shown.length ? `\x1b[${rows.length + 1};1H\x1b[J` : "";
    this.#shown = rows;
    const place = cursor === undefined ? HIDDEN : `\x1b[${cursor.row + 1};${cursor.column + 1}H\x1b[?25h`;
    if (changed + rest === "" && place === this.#place) return;
    this.#place = place;
    this.#write(`\x1b[?2026h${changed}${rest}${place}\x1b[?2026l`);
  }

  resized(): void {
    this.#shown = [];
    this.#write("\x1b[2J");
  }

  #write(text: string): void {
    this.#output.write(text, () => {});
  }
}
