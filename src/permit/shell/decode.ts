/** From the pieces of a scanned word to the words that a program gets. */
import { expandBraces } from "./brace.ts";
import { charsOf, type Piece } from "./piece.ts";
import { quoteShown, type Word } from "./word.ts";

export interface Known {
  readonly home: string;
  /** Variables whose value here is certain. */
  readonly variables: ReadonlyMap<string, string>;
}

/** null: too many words. */
export function decodeWord(pieces: readonly Piece[], known: Known): readonly Word[] | null {
  const all = expandBraces(pieces);
  return all === null ? null : all.map((each) => wordOf(each, known)).filter((word) => word !== null);
}

/** As bash treats what stands after `=`: no braces, no splitting, no patterns; `~` after each `:`. */
export function decodeValue(pieces: readonly Piece[], known: Known): Word {
  const parts = replaced(pieces, known).map((piece) => ({ ...piece, isQuoted: true }));
  const isHomely = pieces.some((piece) => piece.kind === "char" && !piece.isQuoted && piece.char === "~");
  return isHomely
    ? dynamic([])
    : (wordOf(parts, known) ?? { text: "", prefix: "", isMany: false, shown: "''" });
}

/** null: an empty alternative of braces, which is no word. */
function wordOf(pieces: readonly Piece[], known: Known): Word | null {
  if (pieces.length === 0) return null;
  const parts = atHome(replaced(pieces, known), known.home);
  if (parts.some((piece) => piece.kind === "unknown")) return dynamic(parts);
  const text = parts.map((piece) => (piece.kind === "char" ? piece.char : "")).join("");
  const wild = parts.findIndex((piece, i) => isWild(parts, piece, i));
  if (wild < 0) return { text, prefix: text, isMany: false, shown: quoteShown(text) };
  const prefix = parts
    .slice(0, wild)
    .map((piece) => (piece.kind === "char" ? piece.char : ""))
    .join("");
  return { text: null, prefix, isMany: true, glob: text, shown: text };
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

/** Variables whose value is certain; without quotes only where bash would neither split it nor take it for a pattern. */
function replaced(pieces: readonly Piece[], { variables }: Known): readonly Piece[] {
  return pieces.flatMap((piece): readonly Piece[] => {
    const value =
      piece.kind === "unknown" && piece.name !== undefined ? variables.get(piece.name) : undefined;
    if (value === undefined) return [piece];
    if (!piece.isQuoted && (value === "" || /[\s*?[\]]/.test(value))) return [piece];
    return charsOf(value, true);
  });
}

/** `~` and `~/x`. `~user`, and `x=~`, which bash expands in some places, are not known. */
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
