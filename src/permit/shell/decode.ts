/** Decodes the pieces of a scanned word into the words that a program gets. */
import { expandBraces } from "./brace.ts";
import { charsOf, type Piece } from "./piece.ts";
import { asGlob, behind, type Spelling } from "./spelling.ts";
import { quoteShown, type Word } from "./word.ts";

export interface Known {
  readonly home: string;
  /** The values that an expansion may have here; undefined: unknown. */
  spellings(piece: Unknown): readonly Spelling[] | undefined;
}

type Unknown = Extract<Piece, { kind: "unknown" }>;

/** The most readings of one word; with more, the word counts as unknown. */
const MAX_VARIANTS = 64;

/** null: too many words. */
export function decodeWord(pieces: readonly Piece[], known: Known): readonly Word[] | null {
  const all = expandBraces(pieces);
  return all === null ? null : all.map((each) => wordOf(each, known)).filter((word) => word !== null);
}

/**
 * Decodes a value after `=` as bash does: no braces, no splitting, no patterns. With an unquoted `~` the value counts
 * as unknown.
 */
export function decodeValue(pieces: readonly Piece[], known: Known): Word {
  const isHomely = pieces.some((piece) => piece.kind === "char" && !piece.isQuoted && piece.char === "~");
  if (isHomely) return dynamic([]);
  const quoted = pieces.map((piece) => ({ ...piece, isQuoted: true }));
  return wordOf(quoted, known) ?? { text: "", prefix: "", isMany: false, shown: "''" };
}

/** null: an empty alternative of braces, which yields no word. */
function wordOf(pieces: readonly Piece[], known: Known): Word | null {
  if (pieces.length === 0) return null;
  const [only] = pieces;
  const several = pieces.length === 1 && only?.kind === "unknown" ? splitValue(only, known) : null;
  if (several !== null) return several;
  const variants = variantsOf(pieces, known);
  const [first] = variants ?? [];
  if (variants === null || first === undefined) return dynamic(atHome(replaced(pieces, known), known.home));
  const parts = variants.map((each) => atHome(each, known.home));
  if (parts.some((each) => each.some(isOpaque))) return dynamic(parts[0] ?? []);
  const among = parts.map(spellingOf);
  const [spelled] = among;
  if (among.length === 1 && spelled?.kind === "text")
    return { text: spelled.text, prefix: spelled.text, isMany: false, shown: quoteShown(spelled.text) };
  const isSplit = pieces.some((piece) => piece.kind === "unknown" && splits(piece, known));
  const isMany = isSplit || pieces.some((piece, i) => isOpen(piece, known) || isWild(pieces, piece, i));
  const shown = pieces.map((piece) => (piece.kind === "char" ? piece.char : "…")).join("");
  return {
    ...{ text: null, prefix: commonStart(parts.map(startOf)), isMany, among, shown },
    ...(isSplit ? { isSplit } : {}),
  };
}

/** An unquoted expansion to a known text with blanks, which becomes several words. */
function splitValue(piece: Unknown, known: Known): Word | null {
  if (piece.isQuoted || piece.isList === true) return null;
  const [value, other] = known.spellings(piece) ?? [];
  if (
    value?.kind !== "text" ||
    other !== undefined ||
    !/[ \t\n]/.test(value.text) ||
    /[*?[\\]/.test(value.text)
  )
    return null;
  const texts = value.text.split(/[ \t\n]+/).filter((text) => text !== "");
  const among = texts.map((text): Spelling => ({ kind: "text", text }));
  return texts.length === 0
    ? null
    : { text: null, prefix: commonStart(texts), isMany: true, among, shown: "…" };
}

/** null: one of the expansions may be anything, or there are too many readings. */
function variantsOf(pieces: readonly Piece[], known: Known): readonly (readonly Piece[])[] | null {
  let all: readonly (readonly Piece[])[] = [[]];
  for (const piece of pieces) {
    const choices = piece.kind === "char" ? [[piece]] : choicesOf(piece, known);
    if (choices === null || all.length * choices.length > MAX_VARIANTS) return null;
    all = all.flatMap((head) => choices.map((choice) => [...head, ...choice]));
  }
  return all;
}

function choicesOf(piece: Unknown, known: Known): readonly (readonly Piece[])[] | null {
  const spellings = piece.isList === true ? undefined : known.spellings(piece);
  if (spellings === undefined || spellings.length === 0) return null;
  const choices = spellings.map((spelling) => piecesOf(piece, spelling));
  return choices.every((choice) => choice !== null) ? choices : null;
}

/** The pieces of one value; null: bash would split an unquoted text. */
function piecesOf(piece: Unknown, spelling: Spelling): readonly Piece[] | null {
  const { kind, text } = spelling;
  if (kind === "names" || kind === "stream") return [{ kind: "unknown", isQuoted: true, spelling }];
  if (kind === "glob") return globPieces(text);
  if (piece.isQuoted) return text === "" ? [{ kind: "char", char: "", isQuoted: true }] : charsOf(text, true);
  if (text === "" || /[\s\\]/.test(text)) return null;
  return text.split("").map((char) => ({ kind: "char", char, isQuoted: !/[*?[\]]/.test(char) }));
}

/**
 * The pieces of a pattern value. Its wildcards stay wildcards even in quotes: it stands for every name that it may
 * match.
 */
function globPieces(glob: string): readonly Piece[] {
  return [...glob.matchAll(/\\([\s\S])|([\s\S])/g)].map(([, escaped, plain = ""]) => ({
    kind: "char",
    char: escaped ?? plain,
    isQuoted: escaped !== undefined || !/[*?[\]]/.test(plain),
  }));
}

/** Whether the piece, being unquoted, may become several words. */
function isOpen(piece: Piece, known: Known): boolean {
  if (piece.kind === "char" || piece.isQuoted) return false;
  return (known.spellings(piece) ?? []).some(({ kind }) => kind === "glob" || kind === "names");
}

/** Whether bash may split the value of the piece at blanks. */
function splits(piece: Unknown, known: Known): boolean {
  return isOpen(piece, known) && (known.spellings(piece) ?? []).some(({ isWhole }) => isWhole !== true);
}

function isOpaque(piece: Piece, at: number, all: readonly Piece[]): boolean {
  if (piece.kind === "char") return false;
  const { spelling } = piece;
  if (spelling === undefined) return true;
  // a file name may only come last, directly after plain text
  const before = all.slice(0, at).every((each, i) => each.kind === "char" && !isWild(all, each, i));
  return spelling.kind === "stream" ? all.length > 1 : at !== all.length - 1 || !before;
}

function spellingOf(parts: readonly Piece[]): Spelling {
  const last = parts.at(-1);
  const head = parts.map((piece) => (piece.kind === "char" ? piece.char : "")).join("");
  if (last?.kind === "unknown" && last.spelling !== undefined)
    return head === "" || last.spelling.kind === "stream" ? last.spelling : behind(head, last.spelling);
  if (!parts.some((piece, i) => isWild(parts, piece, i))) return { kind: "text", text: head };
  const isMeant = (piece: Piece) => piece.kind === "char" && !piece.isQuoted && /[*?[\]]/.test(piece.char);
  const text = parts.map((piece) =>
    piece.kind !== "char" ? "" : isMeant(piece) ? piece.char : asGlob(piece.char),
  );
  return { kind: "glob", text: text.join("") };
}

function startOf(parts: readonly Piece[]): string {
  const end = parts.findIndex((piece, i) => piece.kind === "unknown" || isWild(parts, piece, i));
  return parts
    .slice(0, end < 0 ? parts.length : end)
    .map((piece) => (piece.kind === "char" ? piece.char : ""))
    .join("");
}

function commonStart(texts: readonly string[]): string {
  return texts.reduce((common, text) => {
    let end = 0;
    while (end < common.length && common[end] === text[end]) end++;
    return common.slice(0, end);
  });
}

function dynamic(parts: readonly Piece[]): Word {
  const first = parts.findIndex((piece, i) => piece.kind === "unknown" || isWild(parts, piece, i));
  const prefix = parts
    .slice(0, Math.max(0, first))
    .map((piece) => (piece.kind === "char" ? piece.char : ""))
    .join("");
  const isMany = parts.some((piece, i) =>
    piece.kind === "unknown" ? !piece.isQuoted || piece.isList === true : isWild(parts, piece, i),
  );
  const shown = parts.map((piece) => (piece.kind === "char" ? piece.char : "…")).join("");
  return { text: null, prefix, isMany, shown: shown === "" ? "…" : shown };
}

function isWild(parts: readonly Piece[], piece: Piece, at: number): boolean {
  if (piece.kind !== "char" || piece.isQuoted) return false;
  if (piece.char !== "[") return piece.char === "*" || piece.char === "?";
  return parts.slice(at + 1).some((each) => each.kind === "char" && !each.isQuoted && each.char === "]");
}

/** Replaces the pieces that have exactly one text as value, in a word with other, unknown pieces. */
function replaced(pieces: readonly Piece[], known: Known): readonly Piece[] {
  return pieces.flatMap((piece): readonly Piece[] => {
    const choices = piece.kind === "unknown" ? choicesOf(piece, known) : null;
    const isPlain =
      choices?.length === 1 && choices[0]?.every((each) => each.kind === "char" && each.isQuoted);
    return isPlain === true ? (choices?.[0] ?? [piece]) : [piece];
  });
}

/** Expands `~` and `~/x`. `~user`, and `x=~`, which bash expands in some places, become unknown. */
function atHome(pieces: readonly Piece[], home: string): readonly Piece[] {
  const text = pieces
    .map((piece) => (piece.kind === "char" && !piece.isQuoted ? piece.char || "\0" : "\0"))
    .join("");
  if (/^[A-Za-z_]\w*\+?=(?:~|.*:~)/.test(text)) return [...pieces, { kind: "unknown", isQuoted: true }];
  if (!text.startsWith("~")) return pieces;
  const end = text.indexOf("/");
  if ((end < 0 ? text.length : end) > 1) return [{ kind: "unknown", isQuoted: true }, ...pieces.slice(1)];
  return [...charsOf(home, true), ...pieces.slice(1)];
}
