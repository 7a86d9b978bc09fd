/** Does the volume of a directory take names that differ in case alone for the same? */
import { statSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** By looking: the directory, or the nearest above it with a letter in its name, under the same name in the other case. */
export function foldsNames(dir: string): boolean {
  for (let at = dir; at !== "/"; at = dirname(at)) {
    const name = basename(at);
    const other = name === name.toUpperCase() ? name.toLowerCase() : name.toUpperCase();
    if (other !== name) return isSame(at, join(dirname(at), other));
  }
  return process.platform === "darwin";
}

function isSame(a: string, b: string): boolean {
  try {
    const [one, two] = [statSync(a, { bigint: true }), statSync(b, { bigint: true })];
    return one.ino === two.ino && one.dev === two.dev;
  } catch {
    return false;
  }
}
