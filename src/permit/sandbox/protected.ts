/** The protected places as paths below the writable roots, whether they exist or not. */
import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { isWithin } from "../../lib/path.ts";
import { GIT_PARTS } from "../rules/git-programs.ts";
import { type Glob, matchesGlob } from "../rules/glob.ts";
import { foldName } from "../rules/paths.ts";
import type { Protection } from "../rules/protected.ts";

/** Parts of each worktree of a repository that say where its configuration is, or are it. */
const WORKTREE = ["commondir", "config.worktree"];

/** The protected places below a `.git` directory; git itself writes to the rest of it. */
export function gitPlaces(gitDir: string): readonly string[] {
  const worktrees = posix.join(gitDir, "worktrees");
  const linked = namesIn(worktrees)
    .filter((name) => isDirectory(posix.join(worktrees, name)))
    .flatMap((name) => WORKTREE.map((each) => posix.join(worktrees, name, each)));
  return [...GIT_PARTS.map((name) => posix.join(gitDir, name)), ...linked];
}

/** The `.git` of the folders that is a directory. */
export function gitDirsIn(folders: readonly string[]): readonly string[] {
  return folders.map((folder) => posix.join(folder, ".git")).filter(isDirectory);
}

/** Places that the table names without wildcards, at the top of each root; a directory ends with `/`. */
export function placesInRoots(all: readonly Protection[], roots: readonly string[]): readonly string[] {
  return plainIn(all, roots.filter(isDirectory)).flatMap(({ path, isDirectory: isFolder }) => {
    if (posix.basename(path) !== ".git") return [isFolder ? `${path}/` : path];
    const kind = kindOf(path);
    if (kind === "directory") return gitPlaces(path);
    return [kind === "absent" ? `${path}/` : path];
  });
}

/** Patterns of the table at the top of each root: they also protect files created later. */
export function patternsInRoots(all: readonly Protection[], roots: readonly string[]): readonly string[] {
  const names = all.flatMap(({ kind, base, segments: [name, other] }) =>
    kind === "secret" || base !== null || name === undefined || other !== undefined || isPlain(name)
      ? []
      : [textOf(name)],
  );
  return roots.filter(isDirectory).flatMap((root) => names.map((name) => posix.join(root, name)));
}

function textOf(glob: Glob): string {
  return glob.map((token) => (token.kind === "char" ? token.char : "*")).join("");
}

/** The existing places in protected directories that the table excepts. */
export function freePlaces(all: readonly Protection[], roots: readonly string[]): readonly string[] {
  const names = ({ except }: Protection) => except.filter(isPlain);
  return plainIn(all, roots.filter(isDirectory))
    .filter(({ path, isDirectory: isFolder }) => isFolder && posix.basename(path) !== ".git")
    .flatMap(({ path, of }) => names(of).map((name) => posix.join(path, name)))
    .filter((path) => kindOf(path) !== "absent");
}

function plainIn(all: readonly Protection[], roots: readonly string[]) {
  const plain = all.filter(({ kind, segments }) => kind !== "secret" && segments.every(isPlain));
  return roots.flatMap((root) =>
    plain.flatMap((of) => {
      const { place, segments } = of;
      if (place !== null && !isWithin(root, place)) return [];
      return [
        { path: posix.join(place ?? root, ...segments.filter(isPlain)), isDirectory: of.isDirectory, of },
      ];
    }),
  );
}

const isPlain = (name: Protection["segments"][number]): name is string => typeof name === "string";

const isDirectory = (path: string): boolean => kindOf(path) === "directory";

export function kindOf(path: string): "absent" | "directory" | "other" {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return "absent";
    return stat.isDirectory() ? "directory" : "other";
  } catch {
    return "absent";
  }
}

/** The existing secrets with a fixed place. */
export function secretsInPlace(all: readonly Protection[]): readonly string[] {
  return all.flatMap(({ kind, place, segments }) => {
    if (kind !== "secret" || place === null || isWithin("/proc", place)) return [];
    const [glob, more] = segments;
    if (glob === undefined) return [place];
    if (more !== undefined) return [];
    const isOf = (name: string) =>
      isPlain(glob) ? glob === foldName(name) : matchesGlob(glob, foldName(name));
    return namesIn(place).flatMap((name) => (isOf(name) ? [posix.join(place, name)] : []));
  });
}

/** The sockets in a directory, where agents and shared connections listen; reaching them needs no network. */
export function socketsIn(dir: string): readonly string[] {
  // where there is none, an exception costs more than a look
  if (!existsSync(dir)) return [];
  try {
    const entries = readdirSync(dir, { withFileTypes: true });
    return entries.flatMap((entry) => (entry.isSocket() ? [posix.join(dir, entry.name)] : []));
  } catch {
    return [];
  }
}

export function holdsOnlySockets(dir: string): boolean {
  try {
    return readdirSync(dir, { withFileTypes: true }).every((entry) => entry.isSocket());
  } catch {
    return false;
  }
}

function namesIn(dir: string): readonly string[] {
  if (!existsSync(dir)) return [];
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}

/** See proc_pid_net(5): the path is the last of the columns, and may contain blanks. */
const BOUND = /^(?:\S+ +){7}(\/.*)$/gm;

/**
 * The sockets with a path that programs of this machine have bound, wherever they lie: a service is reached by such a
 * name without any network. Those of commands are not among them, since each sandbox has a network of its own; nor
 * are those of services in such a network, which the fixed places cover. None where the system has no table of them.
 */
export function boundSockets(): readonly string[] {
  try {
    const paths = [...readFileSync("/proc/net/unix", "utf8").matchAll(BOUND)].map(([, path = ""]) => path);
    return [...new Set(paths)].filter((path) => kindOf(path) === "other");
  } catch {
    return [];
  }
}
