/** Nothing that a POSIX shell takes for more than itself. */
const PLAIN = /^[\w./:@%+,-]+$/;

/** A text as one word of a POSIX shell, whatever is in it; quoted where it must be. */
export function shellWord(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
