/**
 * Where a server of the user is started, and whether an agent may have written what it runs: one whose program lies in a
 * project, where agents work, is confined as their commands are, since it starts again by itself with every daemon.
 */
import { existsSync, realpathSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const MARKS = [".git", ".crux", ".claude"];

interface Start {
  /** Absent: the home directory. */
  readonly cwd?: string;
  readonly confined?: true;
}

/** A command that names nothing in this folder is started at home, so that nothing in a project takes its place. */
export function startOf(words: readonly string[], { cwd, home }: { cwd: string; home: string }): Start {
  const isHere = words.some((word) => word !== "" && !word.startsWith("/") && namesHere(word, cwd));
  const project = isHere ? projectOf(cwd, home) : projectOfFiles(words, home);
  if (project !== undefined) return { cwd: isHere ? cwd : project, confined: true };
  return isHere ? { cwd } : {};
}

/** A path below the folder, or a module of Python in it. */
function namesHere(word: string, cwd: string): boolean {
  return [word, `${word}.py`, ...(/^\w+\./.test(word) ? [word.split(".")[0] ?? ""] : [])].some((name) =>
    existsSync(resolve(cwd, name)),
  );
}

function projectOfFiles(words: readonly string[], home: string): string | undefined {
  const files = words.filter((word) => word.startsWith("/") && isFile(word));
  return files
    .map((file) => projectOf(dirname(realpathSync(file)), home))
    .find((found) => found !== undefined);
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** The nearest folder with a mark of a project, but not the home directory or one above it. */
function projectOf(dir: string, home: string): string | undefined {
  for (let at = dir; at !== dirname(at) && !home.startsWith(at === home ? at : `${at}/`); at = dirname(at))
    if (MARKS.some((mark) => existsSync(join(at, mark)))) return at;
  return undefined;
}
