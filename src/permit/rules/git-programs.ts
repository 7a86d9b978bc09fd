/**
 * What the configuration of a repository has git run, or read as more configuration, where it is a file of the working
 * tree: `core.hooksPath = .githooks`, `include.path = ../.gitconfig`, `filter.x.clean = ./clean.sh`. Whoever writes it
 * runs something the next time the user calls git. git-config(1) describes the files.
 */
import { realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path/posix";
import { RecentMap } from "../../lib/maps/recent-map.ts";
import { isWithin } from "../../lib/path.ts";
import { readRegularSync } from "../../lib/regular-file.ts";

const MAX_BYTES = 256 * 1024;
const MAX_DEPTH = 5;
const MAX_KEPT = 64;

/** Keys whose value is, or may begin with, a program; a lower-case name, without what stands in quotes. */
const RUNS = new Set(
  `core.fsmonitor core.sshcommand core.pager core.editor core.askpass core.gitproxy core.alternaterefscommand
  sequence.editor diff.external interactive.difffilter uploadpack.packobjectshook gpg.program credential.helper
  gpg.defaultkeycommand filter.clean filter.smudge filter.process diff.command diff.textconv merge.driver difftool.cmd
  difftool.path mergetool.cmd mergetool.path trailer.command trailer.cmd remote.uploadpack remote.receivepack
  submodule.update hook.command`.split(/\s+/),
);
const INCLUDES = new Set(["include.path", "includeif.path"]);

interface Setting {
  readonly key: string;
  readonly value: string;
}

const read = new RecentMap<string, { readonly stamp: string; readonly settings: readonly Setting[] }>(
  MAX_KEPT,
);

/** Whether a write to the path changes such a file; `isWhole`: it is removed or moved, with all that lies in it. */
export function isGitProgram(path: string, home: string, isWhole: boolean): boolean {
  const top = treeOf(dirname(path))?.top;
  const separate = top === undefined ? undefined : separateGitDir(top);
  const parts = separate === undefined ? [] : GIT_PARTS.map((name) => join(separate, name.replace("/", "")));
  return [...gitPrograms(dirname(path), home), ...parts].some(
    (each) => isWithin(each, path) || (isWhole && isWithin(path, each)),
  );
}

/** Absolute, as the configuration spells them and as they are; those elsewhere on the host are among them. */
export function gitPrograms(dir: string, home: string): readonly string[] {
  const tree = treeOf(dir);
  if (tree === undefined) return [];
  const files = [
    ...[join(home, ".gitconfig"), join(home, ".config/git/config")],
    ...tree.gitDirs.flatMap((at) => [join(at, "config"), join(at, "config.worktree")]),
  ];
  const found = new Set<string>();
  const add = (path: string) => {
    found.add(path);
    found.add(realOf(path));
  };
  for (const file of files) collect(file, { top: tree.top, home, depth: 0, add });
  return [...found];
}

interface Collecting {
  readonly top: string;
  readonly home: string;
  readonly depth: number;
  add(path: string): void;
}

function collect(file: string, to: Collecting): void {
  const at = (base: string, word: string) => resolve(base, word.replace(/^~(?=\/)/, to.home));
  for (const { key, value } of settingsOf(file)) {
    if (value === "") continue;
    if (INCLUDES.has(key)) {
      const path = at(dirname(file), value);
      to.add(path);
      if (to.depth < MAX_DEPTH) collect(path, { ...to, depth: to.depth + 1 });
    } else if (key === "core.hookspath") to.add(at(to.top, value));
    else if (runs(key, value))
      for (const word of value.split(/[\s'";|&()!=]+/).filter((each) => /\/|\.\w+$/.test(each))) {
        const path = at(to.top, word);
        if (isFile(path)) to.add(path);
      }
  }
}

function runs(key: string, value: string): boolean {
  if (key.startsWith("alias.")) return value.startsWith("!");
  return RUNS.has(key) || key.startsWith("pager.");
}

/** What of a git directory starts programs or says where its configuration is. `git commit` writes to none of them. */
export const GIT_PARTS = ["hooks/", "config", "config.worktree", "info/", "commondir", "modules/"] as const;

/** The git directory of a repository whose `.git` is a link or names another place; undefined for a worktree of another. */
export function separateGitDir(top: string): string | undefined {
  const mark = join(top, ".git");
  const stat = statOf(mark);
  if (stat === undefined) return undefined;
  const [own, ...more] = stat.isDirectory() ? [mark] : linkedDirs(mark);
  const real = own === undefined || more.length > 0 ? mark : realOf(own);
  return real === mark || real === join(realOf(top), ".git") ? undefined : real;
}

/** The working tree around a folder, and its git directories: its own, and the one that worktrees share. */
function treeOf(dir: string): { readonly top: string; readonly gitDirs: readonly string[] } | undefined {
  for (let top = dir; ; top = dirname(top)) {
    const mark = join(top, ".git");
    const stat = statOf(mark);
    if (stat?.isDirectory() === true) return { top, gitDirs: [mark] };
    if (stat?.isFile() === true) return { top, gitDirs: linkedDirs(mark) };
    if (top === dirname(top)) return undefined;
  }
}

function linkedDirs(mark: string): readonly string[] {
  const [, to] = /^gitdir: (.+)$/m.exec(textOf(mark)) ?? [];
  if (to === undefined) return [];
  const own = resolve(dirname(mark), to);
  const common = textOf(join(own, "commondir")).trim();
  return common === "" ? [own] : [resolve(own, common), own];
}

function settingsOf(file: string): readonly Setting[] {
  const stat = statOf(file);
  if (stat?.isFile() !== true) return [];
  const stamp = `${stat.ino} ${stat.mtimeMs} ${stat.ctimeMs} ${stat.size}`;
  const known = read.use(file);
  if (known?.stamp === stamp) return known.settings;
  const settings = parse(textOf(file));
  read.set(file, { stamp, settings });
  return settings;
}

/** Sections without what stands in quotes, and a key without a value is left out: such a key runs nothing. */
function parse(text: string): readonly Setting[] {
  const found: Setting[] = [];
  let section = "";
  for (const line of text.replaceAll(/\\\r?\n/g, " ").split(/\r?\n/)) {
    const [, name, rest = line] = /^\s*\[\s*([\w.-]+)(?:\s+"(?:[^"\\]|\\.)*")?\s*\](.*)$/.exec(line) ?? [];
    if (name !== undefined) section = name.toLowerCase().split(".")[0] ?? "";
    const [, key, value = ""] =
      /^\s*([A-Za-z][\w-]*)\s*=\s*(.*)$/.exec(name === undefined ? line : rest) ?? [];
    if (key !== undefined) found.push({ key: `${section}.${key.toLowerCase()}`, value: plain(value) });
  }
  return found;
}

/** Without a comment behind it, quotes and escapes. */
function plain(value: string): string {
  const bare = /^(?:"(?:[^"\\]|\\.)*"|\\.|[^"#;\\])*/.exec(value)?.[0] ?? value;
  return bare.replaceAll(/\\(.)|"/g, "$1").trim();
}

function isFile(path: string): boolean {
  return basename(path) !== ".git" && statOf(path)?.isFile() === true;
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function statOf(path: string) {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function textOf(path: string): string {
  try {
    return readRegularSync(path, MAX_BYTES).toString("utf8");
  } catch {
    return "";
  }
}
