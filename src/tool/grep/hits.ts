/** ripgrep's output, with NUL after each path, as lines for the model: in path order, `path:line:text`. */

interface Match {
  path: string;
  line: number;
  text: string;
}

export interface GrepHits {
  /** As printed, without the separators between groups. */
  lines: string[];
  /** Indexes in `lines` where a new group begins: separators are not counted as lines. */
  groups: ReadonlySet<number>;
  /** The matches among `lines`, by their index there. */
  matches: ReadonlyMap<number, Match>;
  /** Matching lines; for files and count: files, and the sum of their counts. */
  count: number;
}

/** A matching line, or a line of context. */
export interface HitLine {
  line: number;
  isMatch: boolean;
  text: string;
}

export interface FileHits {
  path: string;
  /** Runs of adjacent lines. */
  groups: HitLine[][];
}

/** Returns a path as the caller would write it. */
type ShowPath = (path: string) => string;

/** `hasContext`: lines around the matches were requested. */
export function contentOf(stdout: string, show: ShowPath, hasContext: boolean): GrepHits {
  return printHits(parseHits(stdout), show, hasContext);
}

export function countsOf(stdout: string, show: ShowPath): GrepHits {
  const files = parseCounts(stdout);
  const lines = files.map(({ path, count }) => `${show(path)}:${count}`);
  return {
    lines,
    groups: new Set(),
    matches: new Map(),
    count: files.reduce((sum, file) => sum + file.count, 0),
  };
}

/** The files in the output, sorted by name. */
export function pathsOf(stdout: string): string[] {
  return stdout
    .split("\0")
    .filter((path) => path !== "")
    .sort();
}

export function filesOf(paths: readonly string[], show: ShowPath): GrepHits {
  return { lines: paths.map(show), groups: new Set(), matches: new Map(), count: paths.length };
}

function parseCounts(stdout: string): { path: string; count: number }[] {
  const files: { path: string; count: number }[] = [];
  for (const line of stdout.split("\n")) {
    const [path, count] = line.split("\0");
    if (path !== undefined && count !== undefined) files.push({ path, count: Number(count) });
  }
  return files.sort(byPath);
}

function parseHits(stdout: string): FileHits[] {
  const files = new Map<string, FileHits>();
  let joins = false;
  for (const printed of stdout.split("\n")) {
    const nul = printed.indexOf("\0");
    const found = nul === -1 ? null : /^(\d+)([:-])/.exec(printed.slice(nul + 1, nul + 21));
    if (found === null) {
      // `--` between groups; any other line is a remark about a binary file
      joins = false;
      continue;
    }
    const path = printed.slice(0, nul);
    const file = files.get(path) ?? { path, groups: [] };
    files.set(path, file);
    const text = printed.slice(nul + 1 + found[0].length).replace(/\r$/, "");
    const hit = { line: Number(found[1]), isMatch: found[2] === ":", text };
    const group = file.groups.at(-1);
    if (joins && group !== undefined) group.push(hit);
    else file.groups.push([hit]);
    joins = true;
  }
  return [...files.values()].sort(byPath);
}

/** Groups with context are separated; bare matches are not. */
export function printHits(files: readonly FileHits[], show: ShowPath, hasContext: boolean): GrepHits {
  const lines: string[] = [];
  const groups = new Set<number>();
  const matches = new Map<number, Match>();
  for (const file of files) {
    const path = show(file.path);
    for (const group of file.groups) {
      if (hasContext) groups.add(lines.length);
      for (const { line, isMatch, text } of group) {
        if (isMatch) matches.set(lines.length, { path, line, text });
        lines.push(isMatch ? `${path}:${line}:${text}` : `${path}-${line}-${text}`);
      }
    }
  }
  return { lines, groups, matches, count: matches.size };
}

function byPath(a: { path: string }, b: { path: string }): number {
  if (a.path === b.path) return 0;
  return a.path < b.path ? -1 : 1;
}
