/**
 * Which paths below a directory a glob means: as ripgrep and gitignore read it. Without a slash it holds at any depth;
 * hidden files count. Not handed to ripgrep itself, where a glob that matches a directory brings back what is ignored.
 */
import picomatch from "picomatch";
import { findMatching } from "../../lib/find-matching.ts";
import { driverError } from "../driver-error.ts";

const MAX_CHARS = 1_000;

/** Of one search, however many names it is held against. */
const maxMs = 500;

/**
 * Gives those of some paths that the glob means. INVALID: a glob that cannot match anything: an unclosed bracket or brace.
 * TIMEOUT: it goes through the names in too many ways.
 */
export function globFilter(glob: string): (paths: readonly string[]) => readonly string[] {
  const anchored = glob.replace(/^\.?\//, "");
  const pattern = anchored === glob && !glob.includes("/") ? `**/${glob}` : anchored;
  if (glob === "" || glob.length > MAX_CHARS || !isClosed(glob))
    throw driverError("Write", "INVALID", `not a glob: ${glob.slice(0, 100)}`);
  // é is the same letter as one character and as two
  const regex = picomatch.makeRe(pattern.normalize("NFC"), { dot: true });
  return (paths) => {
    const composed = paths.map((path) => path.normalize("NFC"));
    const found = findMatching(regex, composed, maxMs);
    if (found === null)
      throw driverError("Write", "TIMEOUT", `the glob takes too long on these names: ${glob.slice(0, 100)}`);
    const meant = new Set(found);
    // brackets in a name: the name itself is meant as well
    return paths.filter((path, at) => meant.has(at) || path === pattern);
  };
}

/** How many levels down a glob can mean anything; undefined: any number. */
export function depthOf(glob: string): number | undefined {
  if (!glob.includes("/") || /\*\*|[{}()]/.test(glob)) return undefined;
  return glob.replace(/^\.?\//, "").split("/").length;
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
