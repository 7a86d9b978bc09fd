/**
 * The text in the editor, with its cursor, what was cut and what can be undone: pure, a new value for each change. A long paste
 * stands as a mark like `[Pasted text #1 +42 lines]`, which the cursor passes as one character, and so does that of a picture.
 */
import { graphemesOf } from "../../cli/screen/text/width.ts";

export interface Buffer {
  readonly text: string;
  /** Offset in code units, never inside of a grapheme or of a mark. */
  readonly at: number;
  /** What was cut last, for Ctrl-Y. */
  readonly cut: string;
  readonly undo: readonly Snapshot[];
  /** The pasted texts, by the number in their mark, from 1. */
  readonly pastes: readonly string[];
}

interface Snapshot {
  readonly text: string;
  readonly at: number;
}

export const BLANK: Buffer = { text: "", at: 0, cut: "", undo: [], pastes: [] };

const MAX_UNDO = 100;
/** A longer paste is a mark. */
const PASTE_LINES = 10;
const PASTE_CHARS = 1_000;
const MARK = /\[(?:Pasted text #(\d{1,6})(?: \+\d+ lines)?|Image #\d{1,6})\]/g;
const WORD_LEFT = /[\p{L}\p{N}_]+[^\p{L}\p{N}_]*$/u;
const WORD_RIGHT = /^[^\p{L}\p{N}_]*[\p{L}\p{N}_]+/u;

export function withText(buffer: Buffer, text: string): Buffer {
  return { ...remembered(buffer), text, at: text.length };
}

export function insert(buffer: Buffer, typed: string): Buffer {
  const text = clean(typed);
  if (text === "") return buffer;
  const [before, after] = halves(buffer);
  // typing one word is undone at once
  const isWord = /^[\p{L}\p{N}]$/u.test(text) && /[\p{L}\p{N}]$/u.test(before);
  const base = isWord && buffer.undo.length > 0 ? buffer : remembered(buffer);
  return { ...base, text: `${before}${text}${after}`, at: before.length + text.length };
}

export function paste(buffer: Buffer, pasted: string): Buffer {
  const text = clean(pasted);
  const lines = text.split("\n").length;
  if (lines <= PASTE_LINES && text.length <= PASTE_CHARS) return insert(buffer, text);
  const more = lines > 1 ? ` +${lines} lines` : "";
  const mark = `[Pasted text #${buffer.pastes.length + 1}${more}]`;
  return { ...insert(buffer, mark), pastes: [...buffer.pastes, text] };
}

/** What is sent: the pasted texts in place of their marks. */
export function sentText({ text, pastes }: Buffer): string {
  return text.replace(MARK, (mark, number?: string) => pastes[Number(number) - 1] ?? mark);
}

export function left(buffer: Buffer): Buffer {
  return { ...buffer, at: buffer.at - lastUnit(halves(buffer)[0]).length };
}

export function right(buffer: Buffer): Buffer {
  return { ...buffer, at: buffer.at + firstUnit(halves(buffer)[1]).length };
}

export function wordLeft(buffer: Buffer): Buffer {
  const [before] = halves(buffer);
  return { ...buffer, at: Math.max(0, before.search(WORD_LEFT)) };
}

export function wordRight(buffer: Buffer): Buffer {
  const [before, after] = halves(buffer);
  return { ...buffer, at: before.length + (WORD_RIGHT.exec(after)?.[0].length ?? after.length) };
}

export function lineStart(buffer: Buffer): Buffer {
  return { ...buffer, at: halves(buffer)[0].lastIndexOf("\n") + 1 };
}

export function lineEnd(buffer: Buffer): Buffer {
  const end = buffer.text.indexOf("\n", buffer.at);
  return { ...buffer, at: end < 0 ? buffer.text.length : end };
}

/** undefined: there is no line above. */
export function up(buffer: Buffer): Buffer | undefined {
  const start = lineStart(buffer).at;
  if (start === 0) return undefined;
  return atColumn(buffer, lineStart({ ...buffer, at: start - 1 }).at, column(buffer));
}

/** undefined: there is no line below. */
export function down(buffer: Buffer): Buffer | undefined {
  const end = lineEnd(buffer).at;
  return end === buffer.text.length ? undefined : atColumn(buffer, end + 1, column(buffer));
}

export function backspace(buffer: Buffer): Buffer {
  return removed(buffer, left(buffer).at, buffer.at);
}

export function deleteRight(buffer: Buffer): Buffer {
  return removed(buffer, buffer.at, right(buffer).at);
}

export function cutWordLeft(buffer: Buffer): Buffer {
  const [before] = halves(buffer);
  const from = before.search(/\S+\s*$/);
  return cut(buffer, Math.max(0, from), buffer.at);
}

export function cutWordRight(buffer: Buffer): Buffer {
  return cut(buffer, buffer.at, wordRight(buffer).at);
}

/** To the end of the line; at its end the line break. */
export function cutToEnd(buffer: Buffer): Buffer {
  const end = lineEnd(buffer).at;
  return cut(buffer, buffer.at, end === buffer.at ? Math.min(end + 1, buffer.text.length) : end);
}

export function cutToStart(buffer: Buffer): Buffer {
  return cut(buffer, lineStart(buffer).at, buffer.at);
}

export function yank(buffer: Buffer): Buffer {
  return insert(buffer, buffer.cut);
}

export function undo(buffer: Buffer): Buffer {
  const last = buffer.undo.at(-1);
  return last === undefined ? buffer : { ...buffer, ...last, undo: buffer.undo.slice(0, -1) };
}

/** Removed, and kept for Ctrl-Y. */
function cut(buffer: Buffer, from: number, to: number): Buffer {
  return from === to ? buffer : { ...removed(buffer, from, to), cut: buffer.text.slice(from, to) };
}

/** The cursor stands behind what is put in place of the range. */
export function replacedRange(buffer: Buffer, from: number, to: number, put: string): Buffer {
  const text = buffer.text.slice(0, from) + put + buffer.text.slice(to);
  return { ...remembered(buffer), text, at: from + put.length };
}

/** With the cursor at this place, or before it where that is inside of a grapheme or a mark. */
export function snapped(buffer: Buffer, wanted: number): Buffer {
  const start = lineStart({ ...buffer, at: wanted }).at;
  const line = graphemesOf(buffer.text.slice(start, lineEnd({ ...buffer, at: wanted }).at));
  let [at, columns] = [start, 0];
  for (const each of line) {
    if (at + each.length > wanted) break;
    at += each.length;
    columns++;
  }
  return atColumn(buffer, start, columns);
}

function removed(buffer: Buffer, from: number, to: number): Buffer {
  if (from === to) return buffer;
  return { ...remembered(buffer), text: buffer.text.slice(0, from) + buffer.text.slice(to), at: from };
}

function remembered(buffer: Buffer): Buffer {
  const { text, at } = buffer;
  return { ...buffer, undo: [...buffer.undo.slice(1 - MAX_UNDO), { text, at }] };
}

function halves({ text, at }: Buffer): readonly [before: string, after: string] {
  return [text.slice(0, at), text.slice(at)];
}

/** The column in graphemes. */
function column(buffer: Buffer): number {
  return graphemesOf(buffer.text.slice(lineStart(buffer).at, buffer.at)).length;
}

function atColumn(buffer: Buffer, start: number, wanted: number): Buffer {
  const line = buffer.text.slice(start, lineEnd({ ...buffer, at: start }).at);
  const at = start + graphemesOf(line).slice(0, wanted).join("").length;
  // not into the middle of a mark
  const mark = [...buffer.text.matchAll(MARK)].find(
    (each) => each.index < at && at < each.index + each[0].length,
  );
  return { ...buffer, at: mark === undefined ? at : mark.index };
}

function lastUnit(text: string): string {
  const mark = [...text.matchAll(MARK)].at(-1);
  if (mark !== undefined && mark.index + mark[0].length === text.length) return mark[0];
  // a grapheme is never longer than this in what people type
  return graphemesOf(text.slice(-64)).at(-1) ?? "";
}

function firstUnit(text: string): string {
  const mark = [...text.slice(0, 64).matchAll(MARK)][0];
  return mark?.index === 0 ? mark[0] : (graphemesOf(text.slice(0, 64))[0] ?? "");
}

/** Line ends as `\n`, and no other control characters than tabs. */
function clean(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is left out
  return text.replace(/\r\n?|[\u2028\u2029]/g, "\n").replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, "");
}
