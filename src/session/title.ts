import { LIMITS } from "../kernel/limits.ts";

/** The default title: the beginning of the first message, on one line. */
export function firstWords(text: string): string {
  const line = text.trimStart().split(/\r?\n/, 1)[0]?.trim().replace(/\s+/g, " ") ?? "";
  if (line.length <= LIMITS.firstWordsChars) return line;
  const cut = line.slice(0, LIMITS.firstWordsChars).toWellFormed();
  const space = cut.lastIndexOf(" ");
  return `${space > LIMITS.firstWordsChars / 2 ? cut.slice(0, space) : cut}…`;
}
