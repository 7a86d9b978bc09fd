/** The newest lines of one child, bounded in number and in characters: the oldest go. */
interface KeptLine {
  /** Order among all children of the project. */
  readonly seq: number;
  readonly text: string;
}

export class LineRing {
  readonly #maxLines: number;
  readonly #maxChars: number;
  readonly #lines: KeptLine[] = [];
  #chars = 0;

  constructor(maxLines: number, maxChars: number) {
    this.#maxLines = maxLines;
    this.#maxChars = maxChars;
  }

  push(line: KeptLine): void {
    this.#lines.push(line);
    this.#chars += line.text.length;
    if (this.#lines.length > this.#maxLines) this.#drop();
    this.shrink(this.#maxChars);
  }

  /** From now on no more than this many characters are there. */
  shrink(maxChars: number): void {
    while (this.#chars > maxChars) this.#drop();
  }

  newest(count: number): readonly KeptLine[] {
    return count === 0 ? [] : this.#lines.slice(-count);
  }

  #drop(): void {
    this.#chars -= this.#lines.shift()?.text.length ?? 0;
  }
}
