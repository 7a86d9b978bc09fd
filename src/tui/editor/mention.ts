/** A file that is named in a message, `@src/main.ts`: what of its name is typed, and which names that may be. Pure. */
import { type Buffer, withText } from "./buffer.ts";

interface Mention {
  /** Offset of the `@`. */
  readonly from: number;
  /** What stands between it and the cursor. */
  readonly begun: string;
}

const BEGUN = /(?<=^|[\s("'])@(?:"([^"\n]{0,300})|([^\s"@]{0,300}))$/;
const MOST = 50;

/** undefined: the cursor is not in the name of a file. */
export function mentionAt({ text, at }: Buffer): Mention | undefined {
  const found = BEGUN.exec(text.slice(0, at));
  return found === null ? undefined : { from: found.index, begun: found[1] ?? found[2] ?? "" };
}

/** The best first; of equally good ones the shorter. Small letters stand for both. */
export function fitting(paths: readonly string[], begun: string): readonly string[] {
  const isSmall = begun === begun.toLowerCase();
  const ranked = paths.flatMap((path) => {
    const rank = rankOf(isSmall ? path.toLowerCase() : path, begun);
    return rank === undefined ? [] : [{ path, rank }];
  });
  return ranked
    .sort((a, b) => a.rank - b.rank || a.path.length - b.path.length || (a.path < b.path ? -1 : 1))
    .slice(0, MOST)
    .map(({ path }) => path);
}

/** A folder stays open, for what is in it. */
export function mentioned(buffer: Buffer, { from }: Mention, path: string): Buffer {
  const isFolder = path.endsWith("/");
  const name = !/\s/.test(path) ? `@${path}` : isFolder ? `@"${path}` : `@"${path}"`;
  const put = isFolder ? name : `${name} `;
  const next = withText(buffer, buffer.text.slice(0, from) + put + buffer.text.slice(buffer.at));
  return { ...next, at: from + put.length };
}

/** 0 is best; undefined: some letter is missing, or they come in another order. */
function rankOf(path: string, begun: string): number | undefined {
  if (path.startsWith(begun)) return 0;
  const name = path.slice(path.lastIndexOf("/", path.length - 2) + 1);
  if (name.startsWith(begun)) return 1;
  if (name.includes(begun)) return 2;
  if (path.includes(begun)) return 3;
  let at = -1;
  for (const letter of begun) {
    at = path.indexOf(letter, at + 1);
    if (at < 0) return undefined;
  }
  return 4;
}
