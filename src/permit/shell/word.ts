/** Words of a command as they are known before bash runs it. */
import { mayBeginWithDash, type Spelling } from "./spelling.ts";

export interface Word {
  /** What the program gets; null: only bash can work that out. */
  readonly text: string | null;
  /** With what it begins in any case. */
  readonly prefix: string;
  /** It may become no word, or several. */
  readonly isMany: boolean;
  /** Where the text is not known: all that it may be. Absent: anything. */
  readonly among?: readonly Spelling[];
  /** Blanks in what it comes to make words of their own. */
  readonly isSplit?: boolean;
  /** For a person: what is not known as `…`. */
  readonly shown: string;
}

export function staticWord(text: string): Word {
  return { text, prefix: text, isMany: false, shown: quoteShown(text) };
}

/** One word of which nothing is known. */
export const UNKNOWN_WORD: Word = { text: null, prefix: "", isMany: true, shown: "…" };

/** As a person would type it, quotes only where they are needed. */
export function quoteShown(text: string): string {
  return /^[\p{L}\p{N}_@%+=:,./~^{}-]+$/u.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

export function shownArgv(argv: readonly Word[]): string {
  return argv.map(({ shown }) => shown).join(" ");
}

/** Could it be, or bring, a flag? */
export function mayBeFlag(word: Word): boolean {
  if (word.text !== null) return word.text.startsWith("-");
  if (word.among !== undefined) return word.isSplit === true || word.among.some(mayBeginWithDash);
  return word.isMany || word.prefix === "" || word.prefix.startsWith("-");
}

/** null: one of them is not known. */
export function textsOf(argv: readonly Word[]): readonly string[] | null {
  const texts: string[] = [];
  for (const { text } of argv) {
    if (text === null) return null;
    texts.push(text);
  }
  return texts;
}

/** The name of the program as written; null: not known. */
export function programOf(argv: readonly Word[]): string | null {
  return argv[0]?.text ?? null;
}

/** Names that a pattern may stand for, to look at with rules that name one: `.env*` also stands for `.env`. */
export function globSpellings(glob: string): readonly string[] {
  return [...new Set([glob, glob.replace(/[*?]/g, ""), glob.replace(/[*?]+|\[[^\]]*\]/g, "x")])].filter(
    (each) => each !== "",
  );
}
