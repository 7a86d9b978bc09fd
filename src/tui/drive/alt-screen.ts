/** The whole screen, for views that leave the conversation as it is: changed rows only, and all of them after a resize. */
import type { Output } from "../../cli/terminal/streams.ts";
import { type Line, printed } from "../text/line.ts";

const ENTER = "\x1b[?1049h\x1b[?25l\x1b[2J";
const LEAVE = "\x1b[?1049l\x1b[?25h";

export class AltScreen implements Disposable {
  readonly #output: Output;
  #shown: readonly string[] = [];

  constructor(output: Output) {
    this.#output = output;
    this.#write(ENTER);
  }

  draw(lines: readonly Line[]): void {
    const rows = lines.map(printed);
    const changed = rows
      .map((row, at) => (row === this.#shown[at] ? "" : `\x1b[${at + 1};1H${row}\x1b[K`))
      .join("");
    const rest = rows.length < this.#shown.length ? `\x1b[${rows.length + 1};1H\x1b[J` : "";
    this.#shown = rows;
    if (changed + rest !== "") this.#write(`\x1b[?2026h${changed}${rest}\x1b[?2026l`);
  }

  resized(): void {
    this.#shown = [];
    this.#write("\x1b[2J");
  }

  [Symbol.dispose](): void {
    this.#write(LEAVE);
  }

  #write(text: string): void {
    this.#output.write(text, () => {});
  }
}
