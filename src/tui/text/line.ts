/** Lines of styled text. A style is the parameters of one SGR sequence; the text itself never holds an escape sequence. */
import { isHarmless, safeLine } from "../../cli/screen/text/safe-text.ts";
import { graphemesOf, widthOf } from "../../cli/screen/text/width.ts";

export interface Span {
  readonly text: string;
  /** Like `1;38;5;12`; "": as the terminal is. */
  readonly style: string;
}

export type Line = readonly Span[];

export const plain = (text: string): Line => [{ text, style: "" }];

export function lineWidth(line: Line): number {
  return line.reduce((sum, { text }) => sum + widthOf(text), 0);
}

/** As a terminal gets it. Ends without a style. What was not made safe where it came in is made so here. */
export function printed(line: Line): string {
  return line
    .map(({ text, style }) => {
      const safe = isHarmless(text) ? text : safeLine(text);
      return style === "" ? safe : `\x1b[${style}m${safe}\x1b[0m`;
    })
    .join("");
}

/** What a program printed: its SGR sequences as styles, everything else that steers a terminal escaped. */
export function colouredLine(row: string): Line {
  let style = "";
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the one kind of sequence that is understood
  const line = row.split(/\x1b\[([0-9;]*)m/).flatMap((part, at): Line => {
    if (at % 2 === 1) style = /^(?:0|2[0-9]|39|49)?$/.test(part) ? "" : part;
    return at % 2 === 1 || part === "" ? [] : [{ text: safeLine(part), style }];
  });
  return line.length === 0 ? plain("") : line;
}

/** `style` where the line has none of its own. */
export function inStyle(line: Line, style: string): Line {
  return line.map((span) => (span.style === "" ? { ...span, style } : span));
}

export function textOf(line: Line): string {
  return line.map(({ text }) => text).join("");
}

const WIDE = "\\u1100-\\u115f\\u2e80-\\ua4cf\\uac00-\\ud7a3\\uf900-\\ufaff\\ufe30-\\ufe6f\\uff00-\\uff60";
/** No line begins with it. */
const CLOSING = "[、。，．！？：；）」』】》〉]";
/** Blanks, one wide character with what closes behind it, or a word. Between any two of them a line may break. */
const PIECE = new RegExp(` +|[${WIDE}]${CLOSING}*|[^ ${WIDE}]+`, "gu");
const WORD = new RegExp(`^[^ ${WIDE}]`, "u");
const CLOSES = new RegExp(`^${CLOSING}`, "u");

/** Lines of at most `width` columns; those after the first begin with `indent`. */
export function wrapped(line: Line, width: number, indent = ""): Line[] {
  if (lineWidth(line) <= width) return [line];
  const wrap = new Wrap(Math.max(1, width), widthOf(indent) < width ? indent : "");
  for (const piece of piecesOf(line)) wrap.add(piece);
  return wrap.lines();
}

/** A word may have several styles: a line does not break where one of them ends. */
function piecesOf(line: Line): readonly Line[] {
  const pieces: Span[][] = [];
  for (const { text, style } of line)
    for (const piece of text.match(PIECE) ?? []) {
      const before = pieces.at(-1);
      if (before !== undefined && isJoined(before.at(-1)?.text ?? "", piece))
        before.push({ text: piece, style });
      else pieces.push([{ text: piece, style }]);
    }
  return pieces;
}

function isJoined(before: string, piece: string): boolean {
  return CLOSES.test(piece) ? !before.startsWith(" ") : WORD.test(piece) && WORD.test(before);
}

class Wrap {
  readonly #width: number;
  readonly #indent: string;
  readonly #done: Line[] = [];
  #line: Span[] = [];
  #used = 0;
  #isEmpty = true;

  constructor(width: number, indent: string) {
    this.#width = width;
    this.#indent = indent;
  }

  add(piece: Line): void {
    const width = lineWidth(piece);
    const isBlank = piece[0]?.text.startsWith(" ") === true;
    const isOver = this.#used + width > this.#width && !this.#isEmpty;
    if (isOver) this.#break();
    if (isOver && isBlank) return;
    const fits = this.#used + width <= this.#width;
    for (const { text, style } of piece)
      if (fits) this.#put(text, style, widthOf(text));
      // a blank where a line breaks is the break
      else if (!isBlank) this.#split(text, style);
  }

  #split(piece: string, style: string): void {
    for (const each of graphemesOf(piece)) {
      const one = widthOf(each);
      if (this.#used + one > this.#width && !this.#isEmpty) this.#break();
      this.#put(each, style, one);
    }
  }

  lines(): Line[] {
    if (!this.#isEmpty || this.#done.length === 0) this.#done.push(this.#line);
    return this.#done;
  }

  #put(text: string, style: string, width: number): void {
    const last = this.#line.at(-1);
    if (last !== undefined && last.style === style)
      this.#line[this.#line.length - 1] = { text: last.text + text, style };
    else this.#line.push({ text, style });
    this.#used += width;
    this.#isEmpty = false;
  }

  #break(): void {
    this.#done.push(this.#line);
    this.#line = this.#indent === "" ? [] : [{ text: this.#indent, style: "" }];
    this.#used = widthOf(this.#indent);
    this.#isEmpty = true;
  }
}

/** At most `width` columns; a cut line ends in `…`. */
export function cutLine(line: Line, width: number): Line {
  if (lineWidth(line) <= width) return line;
  const kept: Span[] = [];
  let used = 1;
  for (const { text, style } of line) {
    let part = "";
    for (const each of graphemesOf(text)) {
      used += widthOf(each);
      if (used > width) return [...kept, { text: `${part}…`, style }];
      part += each;
    }
    kept.push({ text: part, style });
  }
  return kept;
}
