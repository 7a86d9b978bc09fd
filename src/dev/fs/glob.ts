/**
 * Which paths below a directory a glob means: as ripgrep and gitignore read it. Without a slash it holds at any depth;
 * hidden files count. Not handed to ripgrep itself, where a glob that matches a directory brings back what is ignored.
 */
import picomatch from "picomatch";
import { driverError } from "../driver-error.ts";

const MAX_CHARS = 1_000;

/** INVALID: a glob that cannot match anything: an unclosed bracket or brace. */
export function globMatcher(glob: string): (path: string) => boolean {
  const anchored = glob.replace(/^\.?\//, "");
  const pattern = anchored === glob && !glob.includes("/") ? `**/${glob}` : anchored;
  if (glob === "" || glob.length > MAX_CHARS || !isClosed(glob))
    throw driverError("Write", "INVALID", `not a glob: ${glob.slice(0, 100)}`);
  const matches = picomatch(pattern, { dot: true });
  return (path) => matches(path);
}

function isClosed(glob: string): boolean {
  const open = { "[": 0, "{": 0 };
  for (let i = 0; i < glob.length; i++) {
    const char = glob[i];
    if (char === "\\") i++;
    else if (char === "[" && open["["] === 0) open["["] = 1;
    else if (char === "]") open["["] = 0;
    else if (char === "{") open["{"]++;
    else if (char === "}") open["{"]--;
  }
  return open["["] === 0 && open["{"] === 0;
}
