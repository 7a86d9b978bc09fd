import { isWithin } from "../../../lib/path.ts";
import { safeLine } from "./safe-text.ts";

/** The shortest clear form of a path: relative if it is below the working directory. */
export function shownPath(path: string, cwd: string): string {
  return safeLine(path !== cwd && isWithin(cwd, path) ? path.slice(cwd === "/" ? 1 : cwd.length + 1) : path);
}
