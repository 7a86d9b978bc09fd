/**
 * Finds files of Crux itself in text that is not read as commands. An incomplete check: text that computes a path is
 * not caught.
 */

import { unquoted } from "../rules/command-match.ts";
import type { Case } from "./case.ts";

/** The kernel path that the text names, also by way of the home directory. */
export function kernelMention({ places, free }: Case, text: string): string | undefined {
  const bare = unquoted(text);
  const readable = bare.includes("..") ? [] : free.flatMap((path) => spellings(path, places.home));
  const rest = readable.reduce(withoutPath, bare);
  return places.kernel.find((path) => spellings(path, places.home).some((each) => rest.includes(each)));
}

/** Removes the path from the text, by whole segments: `/s/1` is not in `/s/12`, nor in the glob `/s/1*`. */
function withoutPath(text: string, path: string): string {
  const [first = "", ...rest] = text.split(path);
  return first + rest.map((part) => (/^(?:$|[\s/;&|()<>])/.test(part) ? `\0${part}` : path + part)).join("");
}

function spellings(path: string, home: string): readonly string[] {
  if (!path.startsWith(`${home}/`)) return [path];
  const below = path.slice(home.length);
  return [path, `~${below}`, `$HOME${below}`, `\${HOME}${below}`];
}
