/** The possible values of a word whose text only bash knows, where they are limited. */

export interface Spelling {
  /**
   * `glob`: a pattern of file names, in which `\x` is the character itself. `names`: file names below the directory
   * `text`, or pieces of such names. `stream`: the end of a pipe, by a name that bash creates.
   */
  readonly kind: "text" | "glob" | "names" | "stream";
  readonly text: string;
  /** For `names`: the beginning of each name, unless the names are cut in pieces. */
  readonly start?: string;
  /** The value contains no blank, so bash does not split it. */
  readonly isWhole?: boolean;
}

export const STREAM: Spelling = { kind: "stream", text: "" };

/** The names with a text before them. */
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

/** Escapes the text, so that its wildcards match only themselves. */
export function asGlob(text: string): string {
  return text.replace(/[\\*?[\]]/g, "\\$&");
}

/** The literal text up to the first wildcard. */
export function literalStart(glob: string): string {
  return (/^(?:\\[\s\S]|[^\\*?[])*/.exec(glob)?.[0] ?? "").replace(/\\([\s\S])/g, "$1");
}
