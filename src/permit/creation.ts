/** Commands that only make folders and empty files: `mkdir`, `touch`. */
import { posix } from "node:path";
import { isSystemProgram } from "./read-only.ts";

/** The flags without a value that are known. What follows the others is not. */
const FLAGS: Readonly<Record<string, RegExp>> = {
  mkdir: /^(-[pv]+|--parents|--verbose)$/,
  touch: /^(-[acm]+|--no-create)$/,
};

/** What the command makes, as written, or null: it is no such command. */
export function createdPaths(argv: readonly string[]): readonly string[] | null {
  const [path = "", ...args] = argv;
  const name = posix.basename(path);
  const flags = Object.hasOwn(FLAGS, name) && isSystemProgram(path) ? FLAGS[name] : undefined;
  if (flags === undefined) return null;
  const end = args.indexOf("--");
  const head = end < 0 ? args : args.slice(0, end);
  const given = head.filter((arg) => arg.startsWith("-"));
  const paths = [...head.filter((arg) => !arg.startsWith("-")), ...(end < 0 ? [] : args.slice(end + 1))];
  return paths.length > 0 && given.every((arg) => flags.test(arg)) && !paths.includes("") ? paths : null;
}
