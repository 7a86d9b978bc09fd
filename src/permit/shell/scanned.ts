/** The result of the scanner. */
import type { Piece } from "./piece.ts";

export interface ScannedWord {
  readonly end: number;
  readonly pieces: readonly Piece[];
}

export interface HereDocument {
  /** The first and one past the last character of the body, without the line that ends it. */
  readonly start: number;
  readonly end: number;
  /** The delimiter is quoted: bash expands nothing in the body. */
  readonly isQuoted: boolean;
  readonly stripsTabs: boolean;
}

export interface Scan {
  /** Words wherever commands may occur, by start position. */
  readonly words: ReadonlyMap<number, ScannedWord>;
  /** Start and one-past-end of each `` ` `` `$(` `$((` `${` `<(` `>(` that bash acts on. */
  readonly opens: ReadonlyMap<number, number>;
  /** Positions of redirections: their `<` or `>`. */
  readonly redirects: ReadonlySet<number>;
  /** Here-documents by the position of their `<<`. */
  readonly hereDocuments: ReadonlyMap<number, HereDocument>;
  /** Positions of line continuations (backslash and newline), which bash removes before it reads on. */
  readonly continuations: readonly number[];
}
