/**
 * What an unfinished rebase, cherry-pick or revert still has to do lies in a git directory, where a command may write:
 * `git rebase --continue` of the user would run each `exec` line there, with the whole account. Such lines that were not
 * there before the command are taken out when it has ended; what it had written is kept beside. The rest of the steps
 * stays, so that an agent's own rebase goes on. So goes an index that the command has changed and that names places in a
 * git directory (git-index.ts), and what the configuration would run, where that was closed and is another now (git-config.ts).
 *
 * Folders are held open and never entered by way of a link, as in watch.ts.
 */
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { openFolder } from "../../folder.ts";
import { configThatRuns, configWithout } from "./git-config.ts";
import { type HashBytes, isStrangeIndex } from "./git-index.ts";
import { moveAside } from "./watch.ts";

/** A file in which git keeps what is still to be done. */
interface Steps {
  readonly folder: string;
  readonly name: string;
  /** The parts of its text that would run something. */
  runs(text: string): readonly string[];
  /** The text without them; undefined: the file goes as a whole. */
  without?(text: string, gone: ReadonlySet<string>): string;
}

const linesOf = (text: string) => text.split("\n");
const execLines = (text: string) => linesOf(text).filter((line) => /^\s*(?:x|exec)(?=\s|$)/.test(line));
const withoutLines = (text: string, gone: ReadonlySet<string>) =>
  linesOf(text)
    .filter((line) => !gone.has(line))
    .join("\n");
/** git runs `git merge-<strategy>`; with a slash in it that is a path. */
const strangeLines = (text: string) => linesOf(text).filter((line) => line.includes("/"));

const STEPS: readonly Steps[] = [
  { folder: "rebase-merge", name: "git-rebase-todo", runs: execLines, without: withoutLines },
  { folder: "sequencer", name: "todo", runs: execLines, without: withoutLines },
  { folder: "rebase-merge", name: "strategy", runs: strangeLines },
  {
    folder: "sequencer",
    name: "opts",
    runs: (text) => strangeLines(text).filter((line) => /strategy/i.test(line)),
  },
];
const CONFIG: Steps = { folder: "", name: "config", runs: configThatRuns, without: configWithout };
/** A longer list of steps is not read: it goes as a whole. */
const maxBytes = 4 * 1024 * 1024;
/** A larger index that a command has changed goes as a whole, too: that of half a million files is smaller. */
const maxIndexBytes = 64 * 1024 * 1024;
const maxWorktrees = 200;

/**
 * `closed`: places that the command may not write. Call the result once, when all of the command has ended. It returns what
 * was taken out, in words.
 */
export function guardSteps(
  gitDirs: readonly string[],
  closed: ReadonlySet<string> = new Set(),
): () => readonly string[] {
  const allIn = (dir: string, fd: number): readonly Found[] => [
    ...stepsBelow(fd),
    ...(closed.has(join(dir, CONFIG.name)) ? stepsIn(`/proc/self/fd/${fd}`, "", CONFIG) : []),
  ];
  const open = gitDirs.flatMap((dir) => {
    const fd = folderAt(dir);
    return fd === undefined ? [] : [{ dir, fd }];
  });
  const before = new Map(
    open.map(({ dir, fd }) => [dir, new Set(allIn(dir, fd).flatMap(({ runs }) => runs))]),
  );
  const indexes = new Map(open.map(({ dir, fd }) => [dir, indexesIn(fd)]));
  return () => {
    try {
      return open.flatMap(({ dir, fd }) => [
        ...allIn(dir, fd).flatMap((found) => takenOut(dir, found, before.get(dir) ?? new Set())),
        ...[...indexesIn(fd)]
          .filter(([way, stamp]) => indexes.get(dir)?.get(way) !== stamp)
          .flatMap(([way]) => indexTakenOut(dir, fd, way)),
      ]);
    } finally {
      for (const { fd } of open) closeSync(fd);
    }
  };
}

interface Found {
  /** Below the git directory. */
  readonly way: string;
  readonly at: string;
  readonly steps: Steps;
  /** undefined: no file that can be read. */
  readonly text: string | undefined;
  readonly runs: readonly string[];
}

/** Of the git directory and of each worktree below it. */
function stepsBelow(gitDir: number): readonly Found[] {
  const at = `/proc/self/fd/${gitDir}`;
  return ["", ...worktreesOf(at)].flatMap((way) => STEPS.flatMap((steps) => stepsAt(at, way, steps)));
}

/** The index of the git directory and of each worktree, with the parts that several share, and what shows a change. */
function indexesIn(gitDir: number): ReadonlyMap<string, string> {
  const at = `/proc/self/fd/${gitDir}`;
  const ways = ["", ...worktreesOf(at)].flatMap((way) =>
    readdirSync(join(at, way))
      .filter((name) => name === "index" || name.startsWith("sharedindex."))
      .map((name) => join(way, name)),
  );
  return new Map(
    ways.map((way) => {
      const stat = lstatSync(join(at, way), { bigint: true, throwIfNoEntry: false });
      return [way, `${stat?.ino} ${stat?.mode} ${stat?.size} ${stat?.mtimeNs} ${stat?.ctimeNs}`];
    }),
  );
}

function indexTakenOut(dir: string, gitDir: number, way: string): readonly string[] {
  const [folder, name] = [dirname(way), basename(way)];
  const at = join(`/proc/self/fd/${gitDir}`, folder);
  const bytes = bytesOf(join(at, name), maxIndexBytes);
  if (bytes !== undefined && !isStrangeIndex(bytes, hashBytesOf(`/proc/self/fd/${gitDir}`))) return [];
  if (kindOf(join(at, name)) === "absent") return [];
  const aside = moveAside({ at, name });
  return [
    `${join(dir, way)} was no index, or named places in a git directory, which the next git command of the user would have written; it is now ${join(dir, folder, aside)}: git reset makes a new one`,
  ];
}

/** As the configuration says, which no command can change; that of a worktree lies two folders above. */
function hashBytesOf(gitDir: string): HashBytes {
  const config = textOf(join(gitDir, "config")) ?? textOf(`${gitDir}/../../config`) ?? "";
  return /^\s*objectformat\s*=\s*"?sha256/im.test(config) ? 32 : 20;
}

function worktreesOf(at: string): readonly string[] {
  if (kindOf(join(at, "worktrees")) !== "folder") return [];
  const names = readdirSync(join(at, "worktrees")).slice(0, maxWorktrees);
  return names.map((name) => join("worktrees", name)).filter((way) => kindOf(join(at, way)) === "folder");
}

function stepsAt(gitDir: string, base: string, steps: Steps): readonly Found[] {
  const folder = join(gitDir, base, steps.folder);
  const kind = kindOf(folder);
  if (kind === "absent") return [];
  const way = join(base, steps.folder);
  if (kind !== "folder") {
    const asFile = { ...steps, folder: "", name: steps.folder };
    return [{ way, at: join(gitDir, base), steps: asFile, text: undefined, runs: [`${way}: not a folder`] }];
  }
  return stepsIn(folder, way, steps);
}

function stepsIn(folder: string, way: string, steps: Steps): readonly Found[] {
  const path = join(folder, steps.name);
  if (kindOf(path) === "absent") return [];
  const found = { way: join(way, steps.name), at: folder, steps };
  const text = textOf(path);
  return [{ ...found, text, runs: text === undefined ? [`${found.way}: not a file`] : steps.runs(text) }];
}

function takenOut(
  dir: string,
  { way, at, steps, text, runs }: Found,
  before: ReadonlySet<string>,
): readonly string[] {
  const gone = new Set(runs.filter((each) => !before.has(each)));
  if (gone.size === 0 || kindOf(join(at, steps.name)) === "absent") return [];
  const aside = moveAside({ at, name: steps.name });
  if (text !== undefined && steps.without !== undefined)
    writeFileSync(join(at, steps.name), steps.without(text, gone), { flag: "wx" });
  const path = join(dir, way);
  return [
    `${path} would have run something at the next git command of the user; it is now ${path.slice(0, -steps.name.length)}${aside}`,
  ];
}

function kindOf(path: string): "absent" | "folder" | "other" {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return "absent";
  return stat.isDirectory() ? "folder" : "other";
}

function textOf(path: string): string | undefined {
  return bytesOf(path, maxBytes)?.toString("utf8");
}

/** undefined: it is no file, or a longer one. */
function bytesOf(path: string, limit: number): Buffer | undefined {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  try {
    const fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const stat = fstatSync(fd);
      return stat.isFile() && stat.size <= limit ? readFileSync(fd) : undefined;
    } finally {
      closeSync(fd);
    }
  } catch {
    return undefined;
  }
}

/** undefined: no such folder, or a link. */
function folderAt(path: string): number | undefined {
  try {
    return openFolder(path);
  } catch {
    return undefined;
  }
}
