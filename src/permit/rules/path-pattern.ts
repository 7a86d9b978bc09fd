/**
 * Path patterns of rules, in the style of gitignore: `src/**` and `/x` from the project root, `~/x` from the home
 * directory, `//x` from the host root, a bare name at any depth. A pattern that matches a directory covers everything
 * below it.
 */
import { isWithin } from "../../lib/path.ts";
import { type Glob, literalOf, matchesGlob, matchesWritten, parseGlob, parseWrittenGlob } from "./glob.ts";
import { isInside, namesIn, segmentsOf, writtenPath } from "./paths.ts";

export interface PathPattern {
  readonly anchor: "host" | "home" | "project" | "name";
  /** "**" matches any number of segments. */
  readonly segments: Segments;
  /** The segments without Unicode normalisation, for allow rules. */
  readonly written: Segments;
}

type Segments = readonly (Glob | "**")[];

/** The absolute directories that anchors stand for. */
export interface PathBases {
  readonly home: string;
  readonly project: readonly string[];
}

/** null: not a pattern (empty, negated, an unclosed class, or with `..`). */
export function parsePathPattern(text: string): PathPattern | null {
  const { anchor, rest } = splitAnchor(text);
  const parts = rest.split("/").filter((part) => part !== "" && part !== ".");
  if (parts.length === 0 && anchor !== "host" && anchor !== "home") return null;
  if (text.startsWith("!") || parts.includes("..")) return null;
  const [segments, written]: [(Glob | "**")[], (Glob | "**")[]] = [[], []];
  for (const part of parts.length === 0 ? ["**"] : parts) {
    const glob = part === "**" ? part : parseGlob(part);
    const own = part === "**" ? part : parseWrittenGlob(part);
    if (glob === null || own === null) return null;
    segments.push(glob);
    written.push(own);
  }
  return { anchor, segments, written };
}

function splitAnchor(text: string): { anchor: PathPattern["anchor"]; rest: string } {
  if (text.startsWith("//")) return { anchor: "host", rest: text.slice(2) };
  if (text === "~" || text.startsWith("~/")) return { anchor: "home", rest: text.slice(2) };
  if (text.startsWith("/")) return { anchor: "project", rest: text.slice(1) };
  const isName = !text.replace(/\/+$/, "").includes("/") && text !== "**";
  return { anchor: isName ? "name" : "project", rest: text };
}

/** How segments are compared. `isGenerous`: `x/**` covers x itself. */
interface Reading {
  readonly isGenerous: boolean;
  readonly matches: (glob: Glob, name: string) => boolean;
}

const GENEROUS: Reading = { isGenerous: true, matches: matchesGlob };
const STRICT: Reading = { isGenerous: false, matches: matchesGlob };
const WRITTEN: Reading = { isGenerous: false, matches: matchesWritten };

/** Matching for deny and ask rules: a bare name matches anywhere on the host, and a name in either Unicode form. */
export function matchesPath(pattern: PathPattern, path: string, bases: PathBases): boolean {
  return placements(pattern, bases, true).some((place) => liesAt(place, path, GENEROUS));
}

/** Matching for allow rules: only the file named with exactly these characters. */
export function matchesAsWritten(pattern: PathPattern, path: string, bases: PathBases): boolean {
  return (
    placements(pattern, bases, false).some((place) => liesAt(place, path, STRICT)) &&
    isWritten(pattern, path, bases)
  );
}

function liesAt({ base, segments }: Placement, path: string, reading: Reading): boolean {
  if (!isInside(base, path)) return false;
  return matchSegments(segments, segmentsOf(path).slice(segmentsOf(base).length), reading);
}

function isWritten(pattern: PathPattern, path: string, bases: PathBases): boolean {
  return placements({ ...pattern, segments: pattern.written }, bases, false).some(({ base, segments }) => {
    const [from, whole] = [writtenPath(base), writtenPath(path)];
    if (!isWithin(from, whole)) return false;
    return matchSegments(segments, namesIn(whole).slice(namesIn(from).length), WRITTEN);
  });
}

/** Whether something below the directory could match. In doubt the answer is yes. */
export function mayMatchBelow(pattern: PathPattern, dir: string, bases: PathBases): boolean {
  return placements(pattern, bases, true).some(({ base, segments }) => {
    if (isInside(dir, base)) return true;
    if (!isInside(base, dir)) return false;
    const below = segmentsOf(dir).slice(segmentsOf(base).length);
    const open = segments.indexOf("**");
    const fixed = segments.slice(0, open < 0 ? segments.length : open);
    return below.every((segment, i) => {
      const glob = fixed[i];
      return glob === undefined || glob === "**" || matchesGlob(glob, segment);
    });
  });
}

/** Whether text that could not be analysed may name a path that the pattern matches. */
export function isMentioned(pattern: PathPattern, text: string): boolean {
  const literals = pattern.segments.map((segment) => (segment === "**" ? "" : literalOf(segment)));
  const longest = literals.reduce((a, b) => (b.length > a.length ? b : a), "");
  return text.normalize("NFC").includes(longest);
}

interface Placement {
  readonly base: string;
  readonly segments: Segments;
}

function placements(pattern: PathPattern, bases: PathBases, generous: boolean): readonly Placement[] {
  const { anchor, segments } = pattern;
  if (anchor === "host") return [{ base: "/", segments }];
  if (anchor === "home") return [{ base: bases.home, segments }];
  if (anchor === "project") return bases.project.map((base) => ({ base, segments }));
  const anywhere: Segments = ["**", ...segments];
  const roots = generous ? ["/"] : bases.project;
  return roots.map((base) => ({ base, segments: anywhere }));
}

/** Whether the pattern matches the path or one of its ancestors. Positions that have failed are remembered. */
function matchSegments(
  pattern: Segments,
  path: readonly string[],
  { isGenerous, matches }: Reading,
): boolean {
  const failed = new Set<number>();
  const match = (i: number, j: number): boolean => {
    if (i === pattern.length) return true;
    const key = i * (path.length + 1) + j;
    if (failed.has(key)) return false;
    const found = step(i, j);
    if (!found) failed.add(key);
    return found;
  };
  const step = (i: number, j: number): boolean => {
    const segment = pattern[i];
    if (segment === undefined) return true;
    if (segment !== "**")
      return j < path.length && matches(segment, path[j] as string) && match(i + 1, j + 1);
    if (i === pattern.length - 1) return j < path.length || isGenerous;
    for (let k = j; k <= path.length; k++) if (match(i + 1, k)) return true;
    return false;
  };
  return match(0, 0);
}
