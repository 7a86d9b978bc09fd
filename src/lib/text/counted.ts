/** `1 file`, `2 files`; a word with a plural of its own gives it. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}
