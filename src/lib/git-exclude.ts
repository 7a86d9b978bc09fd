/** Keeps files of Crux out of a repository, by git's local exclude file. */
import {
  appendFileSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
} from "node:fs";
import { join } from "node:path";

const MAX_BYTES = 1024 * 1024;

/**
 * Appends the line to `info/exclude` of the git directory, once. No link is followed, and nothing but a file is opened: anyone
 * may have made the repository. Throws file system errors.
 */
export function excludeFromGit(gitDir: string, line: string): void {
  const info = join(gitDir, "info");
  mkdirSync(info, { recursive: true });
  if (!lstatSync(info).isDirectory()) throw new Error(`not a directory: ${info}`);
  const { O_RDWR, O_CREAT, O_APPEND, O_NOFOLLOW, O_NONBLOCK } = constants;
  const flags = O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK;
  const fd = openSync(join(info, "exclude"), flags, 0o644);
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile()) throw new Error(`not a regular file: ${join(info, "exclude")}`);
    if (stats.size > MAX_BYTES) return;
    const text = readFileSync(fd, "utf8");
    if (text.split("\n").some((each) => each.trim() === line)) return;
    appendFileSync(fd, `${text === "" || text.endsWith("\n") ? "" : "\n"}${line}\n`);
  } finally {
    closeSync(fd);
  }
}
