import { isWithin } from "../../../lib/path.ts";
import { safeLine } from "./safe-text.ts";

/** As short as it is clear: below the working directory without that. */
export function shownPath(path: string, cwd: string): string {
  return safeLine(path !== cwd && isWithin(cwd, path) ? path.slice(cwd === "/" ? 1 : cwd.length + 1) : path);
}
