/** Terminal columns: East Asian wide characters and emoji count two, combining marks none. */

/** Characters of one column each: ASCII, Latin letters, and the punctuation, arrows, lines, dots and check marks of our screens. */
const PLAIN =
  /^[\x20-\x7e\xa1-\xac\xae-\u02ff\u2010-\u2027\u2030-\u205e\u2190-\u22ff\u2500-\u25fc\u2713-\u2718]*$/;
const NO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]$/u;
const EMOJI = /^\p{Emoji_Presentation}/u;
/** The ranges of Unicode's East Asian Width classes W and F, by first and last code point. */
const WIDE: ReadonlyArray<readonly [first: number, last: number]> = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x1f200, 0x1f2ff],
  [0x20000, 0x3fffd],
];

let segmenter: Intl.Segmenter | undefined;

/**
 * The characters as a reader sees them. The segmenter is created once and only for text that is not plain: it costs
 * milliseconds, which the first frame of the terminal does without.
 */
export function graphemesOf(text: string): string[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is ASCII
  if (PLAIN.test(text) || /^[\x00-\x7f]*$/.test(text)) return [...text];
  segmenter ??= new Intl.Segmenter();
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

function graphemeWidth(grapheme: string): number {
  if (EMOJI.test(grapheme) || grapheme.includes("\ufe0f")) return 2;
  let width = 0;
  for (const character of grapheme) width = Math.max(width, characterWidth(character));
  return width;
}

function characterWidth(character: string): number {
  if (NO_WIDTH.test(character)) return 0;
  const code = character.codePointAt(0) ?? 0;
  return WIDE.some(([first, last]) => code >= first && code <= last) ? 2 : 1;
}

export function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  return graphemesOf(text).reduce((sum, grapheme) => sum + graphemeWidth(grapheme), 0);
}

/** At most `columns` wide; a cut text ends in `…`, which is included in the width. */
export function cutToWidth(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  const kept: string[] = [];
  let width = 1;
  for (const grapheme of graphemesOf(text)) {
    width += graphemeWidth(grapheme);
    if (width > columns) break;
    kept.push(grapheme);
  }
  return `${kept.join("")}…`;
}

/** Left-aligned; a wider text is not cut. */
export function padToWidth(text: string, columns: number): string {
  return text + " ".repeat(Math.max(0, columns - widthOf(text)));
}

/** They stand at no begin of a line. */
const CLOSING = /^[，。、；：？！）】」』》]$/u;

/** What stays on one line: words, each with a blank before it, and of those of wide characters each of these. */
function piecesOf(text: string): readonly string[] {
  return text
    .trim()
    .split(/ +/)
    .flatMap((word) => {
      const pieces: string[] = [" "];
      let isAfterWide = false;
      for (const grapheme of graphemesOf(word)) {
        const isWide = graphemeWidth(grapheme) > 1;
        const last = pieces.length - 1;
        const isBreak = (isWide || isAfterWide) && !CLOSING.test(grapheme) && pieces[last] !== " ";
        if (isBreak) pieces.push(grapheme);
        else pieces[last] += grapheme;
        isAfterWide = isWide;
      }
      return pieces;
    });
}

/**
 * Lines of at most `columns`, broken at blanks and between wide characters; further lines of a text are indented by two more than
 * its first.
 */
export function wrapped(text: string, columns: number): string[] {
  const [indent = ""] = /^ */.exec(text) ?? [];
  const lines: string[] = [];
  let line = indent;
  for (const piece of piecesOf(text)) {
    const isFirst = line.trim() === "";
    if (!isFirst && widthOf(line) + widthOf(piece) > columns) {
      lines.push(line);
      line = `${indent}  ${piece.trimStart()}`;
    } else line += isFirst ? piece.trimStart() : piece;
  }
  return [...lines, cutToWidth(line, columns)];
}

/**
 * Broken at blanks as above, and nothing of it is left out: a word that is wider stays whole, for the terminal to break. `more`:
 * the further indent of what follows.
 */
export function brokenAtBlanks(text: string, columns: number, more = "  "): string {
  if (widthOf(unpainted(text)) <= columns) return text;
  const [indent = ""] = /^ */.exec(text) ?? [];
  const lines: string[] = [];
  let line = "";
  for (const piece of text.match(/\s*\S+/g) ?? []) {
    if (line.trim() !== "" && widthOf(unpainted(line + piece)) > columns) {
      lines.push(line);
      line = `${indent}${more}${piece.trimStart()}`;
    } else line += piece;
  }
  return [...lines, line].join("\n");
}

/** Without its colours. */
export function unpainted(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is left out
  return text.replace(/\x1b\[[0-9;]*m/g, "");
}
