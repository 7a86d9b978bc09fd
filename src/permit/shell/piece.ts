/** Parts of a word as the scanner reads them, before bash would expand them. */
import type { Spelling } from "./spelling.ts";

export type Piece =
  /** One character (UTF-16 unit). Quoted: bash takes it for itself. */
  | { readonly kind: "char"; readonly char: string; readonly isQuoted: boolean }
  /** What bash alone can work out. `name`: a plain variable. Quoted: it stays one word, but for "$@" and its kin. */
  | {
      readonly kind: "unknown";
      readonly isQuoted: boolean;
      readonly name?: string;
      readonly isList?: boolean;
      /** Of a substitution: where it begins in the text. */
      readonly at?: number;
      /** One of the ways to read it. */
      readonly spelling?: Spelling;
    };

export function charsOf(text: string, isQuoted: boolean): readonly Piece[] {
  return text.split("").map((char) => ({ kind: "char", char, isQuoted }));
}

/** What stood between quotes: a word, even where it is empty. */
export function quotedText(text: string): readonly Piece[] {
  return [{ kind: "char", char: "", isQuoted: true }, ...charsOf(text, true)];
}
