/** What Crux itself keeps in a folder of memory, beside the notes. */

/** What the notes were before they were tidied last: a list of KeptNote, as JSON. */
export const BEFORE_FILE = ".before.md";

export interface KeptNote {
  readonly file: string;
  /** null: there was none. */
  readonly was: string | null;
  /** The SHA-256 of what took its place, hex; null: it was removed. */
  readonly now: string | null;
}
