/** What the scanner tells of a text. */
import type { Piece } from "./piece.ts";

export interface ScannedWord {
  readonly end: number;
  readonly pieces: readonly Piece[];
}

export interface HereDocument {
  /** First and one past the last character of the body; the line of the end is not in it. */
  readonly start: number;
  readonly end: number;
  /** Bash expands nothing in it. */
  readonly isQuoted: boolean;
  readonly stripsTabs: boolean;
}

export interface Scan {
  /** Words wherever commands may stand, by their first character. */
  readonly words: ReadonlyMap<number, ScannedWord>;
  /** Where each of `` ` `` `$(` `$((` `${` `<(` `>(` begins that bash acts on, with one past its end. */
  readonly opens: ReadonlyMap<number, number>;
  /** Where redirections begin: their `<` or `>`. */
  readonly redirects: ReadonlySet<number>;
  /** By the place of their `<<`. */
  readonly hereDocuments: ReadonlyMap<number, HereDocument>;
  /** Where a backslash and a newline stand that bash takes away before it reads on. */
  readonly continuations: readonly number[];
}
