/** Characters without special meaning to a POSIX shell. */
const PLAIN = /^[\w./:@%+,-]+$/;

/** Any text as one word for a POSIX shell; quoted only if needed. */
export function shellWord(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
