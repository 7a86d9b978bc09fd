/** Parts of a word as the scanner reads them, before any expansion. */
import type { Spelling } from "./spelling.ts";

export type Piece =
  /** One character (UTF-16 unit). Quoted: bash takes it literally. */
  | { readonly kind: "char"; readonly char: string; readonly isQuoted: boolean }
  /**
   * An expansion that only bash can compute. `name`: a plain variable. Quoted: it stays one word, except "$@" and the
   * like.
   */
  | {
      readonly kind: "unknown";
      readonly isQuoted: boolean;
      readonly name?: string;
      readonly isList?: boolean;
      /** For a substitution: its start position in the text. */
      readonly at?: number;
      /** One of its possible values. */
      readonly spelling?: Spelling;
    };

export function charsOf(text: string, isQuoted: boolean): readonly Piece[] {
  return text.split("").map((char) => ({ kind: "char", char, isQuoted }));
}

/** Pieces of quoted text: a word, even if it is empty. */
export function quotedText(text: string): readonly Piece[] {
  return [{ kind: "char", char: "", isQuoted: true }, ...charsOf(text, true)];
}
