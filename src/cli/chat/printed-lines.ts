/**
 * What a command prints, line by line as it comes. One print at a time; of a command that is faster than the terminal only the
 * end of what waits is kept, and how much is left out stands before it.
 */

/** The most characters that wait. */
const MAX_CHARS = 20_000;

export class PrintedLines {
  readonly #print: (text: string) => Promise<void>;
  /** What stands for characters that were left out. */
  readonly #more: (count: number) => string;
  #waiting = "";
  #left = 0;
  #printing: Promise<void> | undefined;

  constructor(print: (text: string) => Promise<void>, more: (count: number) => string) {
    this.#print = print;
    this.#more = more;
  }

  add(text: string): void {
    this.#waiting += text;
    const over = this.#waiting.length - MAX_CHARS;
    if (over > 0) {
      this.#left += over;
      this.#waiting = this.#waiting.slice(over);
    }
    if (!this.#waiting.includes("\n")) return;
    this.#printing ??= this.#printAll();
    // a terminal that is gone: the end tells
    this.#printing.catch(() => {});
  }

  /** Nothing comes any more: a last line without its end is printed, too. */
  async end(): Promise<void> {
    await this.#printing;
    if (this.#waiting !== "") await this.#printUntil(this.#waiting.length);
  }

  async #printAll(): Promise<void> {
    for (;;) {
      const end = this.#waiting.lastIndexOf("\n");
      if (end < 0) break;
      await this.#printUntil(end);
    }
    this.#printing = undefined;
  }

  async #printUntil(end: number): Promise<void> {
    const text = this.#waiting.slice(0, end);
    const before = this.#left === 0 ? "" : `${this.#more(this.#left)}\n`;
    this.#waiting = this.#waiting.slice(end + 1);
    this.#left = 0;
    await this.#print(`${before}${text.split("\n").map(asShown).join("\n")}`);
  }
}

/** Of a line that is written anew in its place, such as a progress bar, what it ends with. */
function asShown(line: string): string {
  const written = line.endsWith("\r") ? line.slice(0, -1) : line;
  return written.slice(written.lastIndexOf("\r") + 1).toWellFormed();
}
