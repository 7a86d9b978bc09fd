/** What a word may come to where bash alone knows its text, but not anything. */

export interface Spelling {
  /**
   * `glob`: a pattern of file names, `\x` is the character itself. `names`: names of files below the directory `text`, or pieces
   * of such names. `stream`: the end of a pipe, by a name that bash makes.
   */
  readonly kind: "text" | "glob" | "names" | "stream";
  readonly text: string;
  /** Of `names`: what each begins with, where it is not cut in pieces. */
  readonly start?: string;
  /** No blank is in it: bash does not cut it. */
  readonly isWhole?: boolean;
}

export const STREAM: Spelling = { kind: "stream", text: "" };

/** Names with a text before them. */
export function behind(start: string, names: Spelling): Spelling {
  const dir = directoryOf(start);
  return { kind: "names", text: names.text.startsWith("/") ? dir : `${dir}/${names.text}`, start };
}

export function directoryOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/") + 1) || ".";
}

export function mayBeginWithDash({ kind, text, start = "" }: Spelling): boolean {
  if (kind === "stream") return false;
  if (kind === "names") return start === "" || start.startsWith("-");
  if (kind === "text") return text.startsWith("-");
  const [, set] = /^\[([A-Za-z0-9]+(?:-[A-Za-z0-9])?[A-Za-z0-9-]*)\]/.exec(text) ?? [];
  return set === undefined ? /^[-*?[]|^$/.test(text) : /^-|-$/.test(set);
}

/** Wildcards of the text stand for themselves. */
export function asGlob(text: string): string {
  return text.replace(/[\\*?[\]]/g, "\\$&");
}

/** Up to the first wildcard. */
export function literalStart(glob: string): string {
  return (/^(?:\\[\s\S]|[^\\*?[])*/.exec(glob)?.[0] ?? "").replace(/\\([\s\S])/g, "$1");
}
