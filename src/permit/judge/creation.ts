/** Commands that make files and overwrite none: `mkdir`, `touch`, `cp` and `mv` to where nothing is. */
import { posix } from "node:path";
import { isSystemProgram } from "../shell/tables.ts";
import { textsOf, type Word } from "../shell/word.ts";
import type { PathAccess } from "./path.ts";

/** The flags without a value that are known. What follows the others is not. */
const FLAGS: Readonly<Record<string, RegExp>> = {
  mkdir: /^(-[pv]+|--parents|--verbose)$/,
  touch: /^(-[acm]+|--no-create)$/,
  cp: /^(-[rRapvn]+|--recursive|--archive|--verbose|--no-clobber)$/,
  mv: /^(-[vn]+|--verbose|--no-clobber)$/,
};

/** What the command does, paths as written, or null: it is no such command. `exists` tells of a path as written. */
export function creations(
  argv: readonly Word[],
  exists: (path: string) => boolean,
): readonly PathAccess[] | null {
  const [path = "", ...args] = textsOf(argv) ?? [];
  const name = posix.basename(path);
  const flags = Object.hasOwn(FLAGS, name) && isSystemProgram(path) ? FLAGS[name] : undefined;
  if (flags === undefined) return null;
  const end = args.indexOf("--");
  const head = end < 0 ? args : args.slice(0, end);
  const given = head.filter((arg) => arg.startsWith("-"));
  const paths = [...head.filter((arg) => !arg.startsWith("-")), ...(end < 0 ? [] : args.slice(end + 1))];
  if (paths.length === 0 || paths.includes("") || !given.every((arg) => flags.test(arg))) return null;
  if (name === "mkdir" || name === "touch") return paths.map((each) => ({ access: "write", path: each }));
  return copied(name, given, paths, exists);
}

/** One file or folder to a name that is free. */
function copied(
  name: string,
  flags: readonly string[],
  paths: readonly string[],
  exists: (path: string) => boolean,
) {
  const [from = "", to = "", extra] = paths;
  if (to === "" || extra !== undefined || exists(to)) return null;
  const isDeep = flags.some((flag) => /^-[^-]*[rRa]|^--(?:r|a)/.test(flag));
  const read: PathAccess = { access: "read", path: from, subtree: isDeep || name === "mv" };
  const taken: PathAccess = { access: "write", path: from, replaces: true };
  return [read, ...(name === "mv" ? [taken] : []), { access: "write", path: to } as const];
}
