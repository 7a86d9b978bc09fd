/** Where the motions of vi lead, and what its text objects cover: pure. */
import type { Buffer } from "./buffer.ts";
import * as change from "./buffer.ts";

interface Motion {
  readonly to: number;
  /** A verb takes the character at the end too. */
  readonly isInclusive: boolean;
}

export interface Range {
  readonly from: number;
  readonly to: number;
  readonly isLines: boolean;
}

type Step = (buffer: Buffer, at: number) => number;

const STEPS: Readonly<Record<string, Step>> = {
  h: (buffer, at) => Math.max(lineStart(buffer, at), change.left({ ...buffer, at }).at),
  l: (buffer, at) => Math.min(lineEnd(buffer, at), change.right({ ...buffer, at }).at),
  w: ({ text }, at) => nextWord(text, at, false),
  W: ({ text }, at) => nextWord(text, at, true),
  b: ({ text }, at) => wordBefore(text, at, false),
  B: ({ text }, at) => wordBefore(text, at, true),
  e: (buffer, at) => wordEnd(buffer.text, lastUnit(buffer, at), false),
  E: (buffer, at) => wordEnd(buffer.text, lastUnit(buffer, at), true),
};

const PLACES: Readonly<Record<string, (buffer: Buffer, count: number) => number>> = {
  "0": (buffer) => lineStart(buffer, buffer.at),
  "^": (buffer) => {
    const start = lineStart(buffer, buffer.at);
    return start + (/^[ \t]*/.exec(buffer.text.slice(start))?.[0].length ?? 0);
  },
  $: (buffer) => lineEnd(buffer, buffer.at),
  gg: ({ text }, count) => lineNumber(text, count),
  G: ({ text }, count) => lineNumber(text, count),
};

const PAIRS: Readonly<Record<string, readonly [open: string, close: string]>> = {
  ...{ "(": ["(", ")"], ")": ["(", ")"], "[": ["[", "]"], "]": ["[", "]"], "{": ["{", "}"], "}": ["{", "}"] },
};

/** undefined: there is no such place. */
export function motionOf(name: string, buffer: Buffer, count: number): Motion | undefined {
  if (Object.hasOwn(PLACES, name)) return { to: PLACES[name]?.(buffer, count) ?? 0, isInclusive: false };
  const step = Object.hasOwn(STEPS, name) ? STEPS[name] : undefined;
  if (step !== undefined) {
    let to = buffer.at;
    for (let left = count; left > 0; left--) to = step(buffer, to);
    return { to, isInclusive: name === "e" || name === "E" };
  }
  return /^[fFtT]./su.test(name) ? found(name, buffer, count) : undefined;
}

/** On the line of the cursor. */
function found(name: string, buffer: Buffer, count: number): Motion | undefined {
  const [kind = "", letter = ""] = [...name];
  const isBack = kind === "F" || kind === "T";
  const [start, end] = [lineStart(buffer, buffer.at), lineEnd(buffer, buffer.at)];
  let at = buffer.at;
  for (let left = count; left > 0; left--) {
    at = isBack ? buffer.text.lastIndexOf(letter, at - 1) : buffer.text.indexOf(letter, at + 1);
    if (at < start || at >= end || (isBack && buffer.at === start)) return undefined;
  }
  if (kind === "t") return { to: change.left({ ...buffer, at }).at, isInclusive: true };
  return { to: kind === "T" ? at + letter.length : at, isInclusive: !isBack };
}

export function objectOf(name: string, buffer: Buffer): Range | undefined {
  const [reach = "", kind = ""] = [...name];
  const isAround = reach === "a";
  if (kind === "w" || kind === "W") return wordAt(buffer, kind === "W", isAround);
  const pair = PAIRS[kind];
  const inner = pair === undefined ? quoted(buffer, kind) : enclosed(buffer, pair);
  if (inner === undefined) return undefined;
  const [from, to] = isAround ? [inner[0] - 1, inner[1] + 1] : inner;
  return { from, to, isLines: false };
}

function wordAt({ text, at }: Buffer, isBig: boolean, isAround: boolean): Range {
  const kind = kindOf(text[at], isBig);
  let [from, to] = [at, at];
  while (from > 0 && text[from - 1] !== "\n" && kindOf(text[from - 1], isBig) === kind) from--;
  while (to < text.length && text[to] !== "\n" && kindOf(text[to], isBig) === kind) to++;
  const after = to;
  while (isAround && /[ \t]/.test(text[to] ?? "")) to++;
  while (isAround && to === after && /[ \t]/.test(text[from - 1] ?? "")) from--;
  return { from, to, isLines: false };
}

/** Inside of quotation marks on the line of the cursor. */
function quoted(buffer: Buffer, mark: string): readonly [number, number] | undefined {
  if (!/["'`]/.test(mark)) return undefined;
  const [start, end] = [lineStart(buffer, buffer.at), lineEnd(buffer, buffer.at)];
  const marks: number[] = [];
  for (let at = start; at < end; at++) if (buffer.text[at] === mark) marks.push(at);
  for (let n = 0; n + 1 < marks.length; n += 2) {
    const [open = 0, close = 0] = [marks[n], marks[n + 1]];
    if (close >= buffer.at) return [open + 1, close];
  }
  return undefined;
}

function enclosed(
  { text, at }: Buffer,
  [open, close]: readonly [string, string],
): readonly [number, number] | undefined {
  const from = partner(text, at, { step: -1, wanted: open, other: close });
  if (from === undefined) return undefined;
  const to = partner(text, from + 1, { step: 1, wanted: close, other: open });
  return to === undefined ? undefined : [from + 1, to];
}

function partner(
  text: string,
  start: number,
  { step, wanted, other }: { step: 1 | -1; wanted: string; other: string },
): number | undefined {
  let depth = 0;
  for (let at = start; at >= 0 && at < text.length; at += step) {
    if (text[at] === wanted && depth === 0) return at;
    if (text[at] === wanted) depth--;
    // the cursor may stand on the other end itself
    else if (text[at] === other && at !== start) depth++;
  }
  return undefined;
}

function kindOf(unit: string | undefined, isBig: boolean): "blank" | "word" | "mark" {
  if (unit === undefined || /\s/.test(unit)) return "blank";
  return isBig || /[\p{L}\p{N}\p{M}_\ud800-\udfff]/u.test(unit) ? "word" : "mark";
}

function nextWord(text: string, from: number, isBig: boolean): number {
  let at = from;
  const kind = kindOf(text[at], isBig);
  while (at < text.length && kind !== "blank" && kindOf(text[at], isBig) === kind) at++;
  while (at < text.length && kindOf(text[at], isBig) === "blank") at++;
  return at;
}

function wordBefore(text: string, from: number, isBig: boolean): number {
  let at = from;
  while (at > 0 && kindOf(text[at - 1], isBig) === "blank") at--;
  const kind = kindOf(text[at - 1], isBig);
  while (at > 0 && kindOf(text[at - 1], isBig) === kind) at--;
  return at;
}

/** The last code unit of the character at this place. */
function lastUnit(buffer: Buffer, at: number): number {
  return Math.max(at, change.right({ ...buffer, at }).at - 1);
}

/** The last character of a word. */
function wordEnd(text: string, from: number, isBig: boolean): number {
  let at = from + 1;
  while (at < text.length && kindOf(text[at], isBig) === "blank") at++;
  const kind = kindOf(text[at], isBig);
  while (at + 1 < text.length && kindOf(text[at + 1], isBig) === kind) at++;
  return Math.min(at, Math.max(0, text.length - 1));
}

function lineStart(buffer: Buffer, at: number): number {
  return change.lineStart({ ...buffer, at }).at;
}

function lineEnd(buffer: Buffer, at: number): number {
  return change.lineEnd({ ...buffer, at }).at;
}

/** The begin of a line, counted from 1; of the last one where there are fewer. */
function lineNumber(text: string, count: number): number {
  let at = 0;
  for (let left = count - 1; left > 0; left--) {
    const end = text.indexOf("\n", at);
    if (end < 0) return at;
    at = end + 1;
  }
  return at;
}

/** `;` and `,`: the last search for a character again, and back. */
export function spelled(what: string, find: string): string {
  if (what === ";") return find;
  if (what !== ",") return what;
  const [kind = "", ...letter] = [...find];
  const back = kind === kind.toLowerCase() ? kind.toUpperCase() : kind.toLowerCase();
  return back + letter.join("");
}

/** In normal mode the cursor stands on a character, where the line has one. */
export function onCharacter(buffer: Buffer): Buffer {
  const isBehind = buffer.at === change.lineEnd(buffer).at && buffer.at > change.lineStart(buffer).at;
  return isBehind ? change.left(buffer) : buffer;
}
