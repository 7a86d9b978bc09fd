/** Words of a command, as far as they are known before bash runs it. */
import { mayBeginWithDash, type Spelling } from "./spelling.ts";

export interface Word {
  /** The text that the program gets; null: only bash can compute it. */
  readonly text: string | null;
  /** The beginning that is known in any case. */
  readonly prefix: string;
  /** It may become no word or several. */
  readonly isMany: boolean;
  /** For an unknown text, all its possible values. Absent: it may be anything. */
  readonly among?: readonly Spelling[];
  /** Bash splits its value at blanks. */
  readonly isSplit?: boolean;
  /** The word as shown to the user, its unknown parts as `…`. */
  readonly shown: string;
}

export function staticWord(text: string): Word {
  return { text, prefix: text, isMany: false, shown: quoteShown(text) };
}

/** A word about which nothing is known. */
export const UNKNOWN_WORD: Word = { text: null, prefix: "", isMany: true, shown: "…" };

/** The text as the user would type it, quoted only where needed. */
export function quoteShown(text: string): string {
  return /^[\p{L}\p{N}_@%+=:,./~^{}-]+$/u.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

export function shownArgv(argv: readonly Word[]): string {
  return argv.map(({ shown }) => shown).join(" ");
}

/** Whether the word may be a flag or become one. */
export function mayBeFlag(word: Word): boolean {
  if (word.text !== null) return word.text.startsWith("-");
  if (word.among !== undefined) return word.isSplit === true || word.among.some(mayBeginWithDash);
  return word.isMany || word.prefix === "" || word.prefix.startsWith("-");
}

/** null: one of the words is unknown. */
export function textsOf(argv: readonly Word[]): readonly string[] | null {
  const texts: string[] = [];
  for (const { text } of argv) {
    if (text === null) return null;
    texts.push(text);
  }
  return texts;
}

/** The program name as written; null: unknown. */
export function programOf(argv: readonly Word[]): string | null {
  return argv[0]?.text ?? null;
}

/** Sample names that a pattern may match, to check against rules for one name: `.env*` also matches `.env`. */
export function globSpellings(glob: string): readonly string[] {
  return [...new Set([glob, glob.replace(/[*?]/g, ""), glob.replace(/[*?]+|\[[^\]]*\]/g, "x")])].filter(
    (each) => each !== "",
  );
}
