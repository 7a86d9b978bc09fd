/**
 * What a confined program needs of the host's temporary files, which its private `/tmp` hides: the program itself,
 * the script it runs, the folders of its PATH, its working directory, and the Node and installation of Crux. These
 * are readable, as anywhere else on the host; hidden paths stay hidden, and so do sockets inside these folders.
 */
import { lstatSync, readdirSync, readlinkSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path/posix";
import { looked } from "../../../lib/looks.ts";
import { isWithin } from "../../../lib/path.ts";
import { pathDirectories } from "../../program.ts";

export interface Needs {
  /** Real paths to make readable. */
  readonly show: readonly string[];
  /** Sockets inside the shown paths. */
  readonly hide: readonly string[];
  /** Symbolic links on the way to the shown paths, by the names that were given; `to` is the text of the link. */
  readonly links: readonly { readonly path: string; readonly to: string }[];
}

interface Needy {
  /** The absolute path of the program, and its arguments. */
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Paths that stay hidden. */
  readonly hidden: readonly string[];
  /** Paths that are visible anyway. */
  readonly seen: readonly string[];
  /** Programs and modules of Crux; default: those that are running. */
  readonly own?: readonly string[];
}

const PRIVATE = "/tmp";
const OWN: readonly string[] = [process.execPath, import.meta.filename];
const BINARIES = new Set(["bin", "sbin", "libexec", "Scripts"]);
const PREFIX = ["lib", "lib64", "libexec", "share", "pyvenv.cfg"];
const MARKS = ["package.json", "pyproject.toml"];
const maxLinks = 40;
const maxSocketFolders = 200;
const UNREAD = new Set(["node_modules", ".git"]);

export function needsOf({ argv, cwd, env, hidden, seen, own = OWN }: Needy): Needs {
  const files = [...own, ...programsOf(argv, cwd)];
  const folders = [cwd, ...pathDirectories(env.PATH ?? "")];
  const walk = remembered(walkOf);
  const homes = [
    // also by its unresolved name: related files are looked for beside that
    ...files.flatMap((path) => [join(walk(dirname(path)).real, basename(path)), walk(path).real]).map(homeOf),
    ...repositoryAbove(walk(cwd).real),
    ...folders
      .map((path) => walk(path).real)
      .map((real) => (isBinaries(real) ? homeOf(join(real, "x")) : real)),
  ];
  const isIn = (places: readonly string[], path: string) => places.some((place) => isWithin(place, path));
  const isOpen = (path: string) => isBelow(path) && !isIn(hidden, path) && !isIn(seen.filter(isBelow), path);
  const show = [...new Set(homes)].filter((path) => isOpen(path) && isThere(path));
  const links = [...files, ...folders].flatMap((path) => walk(path).links);
  return {
    show,
    hide: show.flatMap(socketsBelow).filter(isOpen),
    links: [...new Map(links.map((link) => [link.path, link])).values()].filter(
      ({ path }) => isOpen(path) && !isIn(show, path),
    ),
  };
}

/** The nearest repository: git looks for it in the parent folders. */
function repositoryAbove(cwd: string): readonly string[] {
  return foldersOf(cwd)
    .filter((dir) => isThere(join(dir, ".git")))
    .slice(0, 1);
}

const isBelow = (path: string): boolean => path !== PRIVATE && isWithin(PRIVATE, path);

const isBinaries = (path: string): boolean =>
  BINARIES.has(basename(path)) || path.split("/").includes("node_modules");

/** The program, and the script it runs: all that matters of the words of a command. */
export function programsOf([program = "", ...words]: readonly string[], cwd: string): readonly string[] {
  const script = scriptOf(words, cwd);
  return script === undefined ? [program] : [program, script];
}

/** The first argument that names a file, as interpreters take it; undefined if inline code is run (`-c`, `-e`). */
function scriptOf(words: readonly string[], cwd: string): string | undefined {
  const end = words.findIndex((word) => /^-\w*[ce]$/.test(word));
  return (end < 0 ? words : words.slice(0, end))
    .filter((word) => word !== "" && !word.startsWith("-"))
    .map((word) => (word.startsWith("/") ? word : join(cwd, word)))
    .find((path) => isBelow(path) && kindOf(path) === "file");
}

/**
 * The folder with what a program or script needs beside it: the packages it is part of, else its repository, else its
 * project, else the prefix it was installed in, else its own folder. Directly below `/tmp`, only the file itself.
 */
function homeOf(file: string): string {
  if (!isBelow(file)) return file;
  const folders = foldersOf(file);
  const packages = folders.findLast((dir) => basename(dir) === "node_modules");
  if (packages !== undefined) return packages;
  const repository = folders.find((dir) => isThere(join(dir, ".git")));
  if (repository !== undefined) return repository;
  const project = folders.findLast((dir) => MARKS.some((mark) => isThere(join(dir, mark))));
  const [folder, above] = folders;
  if (project !== undefined) return project;
  if (folder === undefined) return file;
  return BINARIES.has(basename(folder)) && above !== undefined && isPrefix(above) ? above : folder;
}

/** True if programs were installed there with their libraries, not just copied there. */
const isPrefix = (dir: string): boolean => PREFIX.some((name) => isThere(join(dir, name)));

/** The parent folders below `/tmp`, nearest first. */
function foldersOf(file: string): readonly string[] {
  const all: string[] = [];
  for (let dir = dirname(file); isBelow(dir); dir = dirname(dir)) all.push(dir);
  return all;
}

/** The real path, and the symbolic links on the way. */
function walkOf(path: string): { readonly real: string; readonly links: Needs["links"] } {
  const links: { path: string; to: string }[] = [];
  const rest = path.split("/").reverse();
  let real = "/";
  for (let name = rest.pop(); name !== undefined && links.length <= maxLinks; name = rest.pop()) {
    const next = join(real, name);
    const to = findLink(next);
    if (to === undefined) {
      real = next;
      continue;
    }
    links.push({ path: next, to });
    if (to.startsWith("/")) real = "/";
    rest.push(...to.split("/").reverse());
  }
  return { real, links };
}

function socketsBelow(root: string): readonly string[] {
  const found: string[] = [];
  const left = [root];
  for (let looked = 0; looked < maxSocketFolders; looked++) {
    const dir = left.shift();
    if (dir === undefined) break;
    const { sockets, folders } = entriesOf(dir);
    found.push(...sockets.map((name) => join(dir, name)));
    left.push(...folders.map((name) => join(dir, name)));
  }
  return found;
}

/** The names of the sockets in a folder, and of the folders in which there may be more. */
const entriesOf = looked(
  (dir: string): { readonly sockets: readonly string[]; readonly folders: readonly string[] } => {
    try {
      const entries = readdirSync(dir, { withFileTypes: true });
      const folders = entries.filter((entry) => entry.isDirectory() && !UNREAD.has(entry.name));
      const sockets = entries.filter((entry) => entry.isSocket());
      return { sockets: sockets.map(({ name }) => name), folders: folders.map(({ name }) => name) };
    } catch {
      return { sockets: [], folders: [] };
    }
  },
);

function remembered<T>(find: (path: string) => T): (path: string) => T {
  const found = new Map<string, T>();
  return (path) => {
    if (!found.has(path)) found.set(path, find(path));
    return found.get(path) as T;
  };
}

/** The text of a symbolic link; undefined: it is not one. */
const findLink = looked((path: string): string | undefined => {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
      ? readlinkSync(path)
      : undefined;
  } catch {
    return undefined;
  }
});

function isThere(path: string): boolean {
  return kindOf(path) !== "absent";
}

const kindOf = looked((path: string): "file" | "other" | "absent" => {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return "absent";
    return stat.isFile() ? "file" : "other";
  } catch {
    return "absent";
  }
});
