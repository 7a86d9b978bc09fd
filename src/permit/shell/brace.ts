/** Brace expansion, as bash does it before all else: `a{b,c}d`, `{1..3}`. */
import { charsOf, type Piece } from "./piece.ts";

/** The most words of one expansion; beyond it they count as unknown. */
const MAX_BRACE_WORDS = 1024;

/** The words that the pieces expand to; null: more than the bound. */
export function expandBraces(pieces: readonly Piece[]): readonly (readonly Piece[])[] | null {
  const open = findGroup(pieces);
  if (open === null) return [pieces];
  const tails = expandBraces(pieces.slice(open.end + 1));
  const middles: (readonly Piece[])[] = [];
  for (const each of open.alternatives) {
    const inner = expandBraces(each);
    if (inner === null || middles.length + inner.length > MAX_BRACE_WORDS) return null;
    middles.push(...inner);
  }
  if (tails === null || tails.length * middles.length > MAX_BRACE_WORDS) return null;
  const head = pieces.slice(0, open.start);
  return middles.flatMap((middle) => tails.map((tail) => [...head, ...middle, ...tail]));
}

interface Group {
  readonly start: number;
  readonly end: number;
  readonly alternatives: readonly (readonly Piece[])[];
}

function isChar(piece: Piece | undefined, char: string): boolean {
  return piece?.kind === "char" && !piece.isQuoted && piece.char === char;
}

/** The first group that expands; a group without a comma or a sequence stays as written. */
function findGroup(pieces: readonly Piece[]): Group | null {
  for (let start = 0; start < pieces.length; start++) {
    if (!isChar(pieces[start], "{")) continue;
    const group = groupAt(pieces, start);
    if (group !== null) return group;
  }
  return null;
}

function groupAt(pieces: readonly Piece[], start: number): Group | null {
  const commas: number[] = [];
  let depth = 0;
  for (let at = start; at < pieces.length; at++) {
    if (isChar(pieces[at], "{")) depth++;
    else if (isChar(pieces[at], ",") && depth === 1) commas.push(at);
    else if (isChar(pieces[at], "}") && --depth === 0) {
      const alternatives =
        commas.length > 0 ? split(pieces, [start, ...commas, at]) : sequence(pieces.slice(start + 1, at));
      return alternatives === null ? null : { start, end: at, alternatives };
    }
  }
  return null;
}

function split(pieces: readonly Piece[], borders: readonly number[]) {
  return borders.slice(1).map((border, i) => pieces.slice((borders[i] ?? 0) + 1, border));
}

function sequence(pieces: readonly Piece[]): readonly (readonly Piece[])[] | null {
  const text = pieces.map((piece) => (piece.kind === "char" && !piece.isQuoted ? piece.char : "\0")).join("");
  const found = /^(?:(-?\d{1,9})\.\.(-?\d{1,9})|([A-Za-z])\.\.([A-Za-z]))(?:\.\.(-?\d{1,9}))?$/.exec(text);
  if (found === null) return null;
  const [, from = "", to = "", first = "", last = "", step = "1"] = found;
  const ends = from === "" ? [first.charCodeAt(0), last.charCodeAt(0)] : [Number(from), Number(to)];
  const [a = 0, b = 0] = ends;
  const by = Math.abs(Number(step)) || 1;
  const count = Math.floor(Math.abs(b - a) / by) + 1;
  const isPadded = [from, to].some((each) => /^-?0\d/.test(each));
  // padded numbers, and sequences over letters of both cases, which include signs, are not expanded here
  const isOdd = isPadded || (from === "" && /[a-z]/.test(first) !== /[a-z]/.test(last));
  if (isOdd || count > MAX_BRACE_WORDS) return [[{ kind: "unknown", isQuoted: false }]];
  return Array.from({ length: count }, (_, i) => {
    const value = a + Math.sign(b - a) * i * by;
    return charsOf(from === "" ? String.fromCharCode(value) : String(value), false);
  });
}
