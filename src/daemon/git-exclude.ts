/** Keeps the user's own settings of a project out of its repository, by an entry in git's local exclude file. */
import { appendFileSync, closeSync, constants, lstatSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const LINE = "**/.crux/settings.local.json";
const MAX_BYTES = 1024 * 1024;

/**
 * Appends the line to `info/exclude` of the repository above `root`, once; does nothing without a repository. Throws
 * file system errors.
 */
export function excludeFromGit(root: string): void {
  const git = findGitDir(root);
  if (git === null) return;
  const info = join(git, "info");
  mkdirSync(info, { recursive: true });
  if (!lstatSync(info).isDirectory()) throw new Error(`not a directory: ${info}`);
  // no link is followed: anyone may have created the repository
  const { O_RDWR, O_CREAT, O_APPEND, O_NOFOLLOW } = constants;
  const fd = openSync(join(info, "exclude"), O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW, 0o644);
  try {
    const text = readFileSync(fd, "utf8");
    if (text.length > MAX_BYTES || text.split("\n").some((line) => line.trim() === LINE)) return;
    appendFileSync(fd, `${text === "" || text.endsWith("\n") ? "" : "\n"}${LINE}\n`);
  } finally {
    closeSync(fd);
  }
}

/** The git directory that all worktrees share (gitrepository-layout(5)). */
function findGitDir(root: string): string | null {
  for (let at = root; ; at = dirname(at)) {
    const mark = join(at, ".git");
    const stats = lstatSync(mark, { throwIfNoEntry: false });
    if (stats?.isDirectory()) return mark;
    if (stats?.isFile()) return commonDir(mark);
    if (at === "/") return null;
  }
}

/** The common directory of a worktree: its `.git` file names a folder, and that folder names the common one. */
function commonDir(mark: string): string | null {
  const named = /^gitdir: (.+)$/m.exec(firstLine(mark))?.[1];
  if (named === undefined) return null;
  const own = resolve(dirname(mark), named);
  const common = lstatSync(join(own, "commondir"), { throwIfNoEntry: false })?.isFile()
    ? resolve(own, firstLine(join(own, "commondir")).trim())
    : own;
  // the file may name any folder: only one created by git counts
  return ["HEAD", "objects"].every((name) => lstatSync(join(common, name), { throwIfNoEntry: false }))
    ? common
    : null;
}

function firstLine(file: string): string {
  return readFileSync(file, "utf8").slice(0, 4096).split("\n")[0] ?? "";
}
