import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { gitPrograms, isGitProgram } from "./git-programs.ts";

let home: string;
let top: string;

beforeEach(() => {
  const dir = realpathSync(mkdtempSync("/var/tmp/crux-git-programs-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  [home, top] = [join(dir, "home"), join(dir, "top")];
  mkdirSync(home);
  put(".git/config", "[core]\n\tbare = false\n");
});

function put(name: string, text: string, base = top): string {
  const path = join(base, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

const below = (): readonly string[] =>
  gitPrograms(join(top, "src"), home)
    .filter((path) => path.startsWith(`${top}/`))
    .map((path) => path.slice(top.length + 1))
    .sort();

test("gitPrograms() finds hooks, included settings and programs of every kind in the working tree", () => {
  for (const name of ["tools/clean.sh", "tools/diff.py", "tools/sign", "fs.sh", "run.sh", "open.sh"])
    put(name, "");
  put("more.gitconfig", '[filter "x"]\n\tclean = "tools/clean.sh" %f ; a comment\n');
  put(
    ".git/config",
    `[core] hooksPath = .githooks # ours
[include]
	path = ../more.gitconfig
[diff "y"]
	textconv = python3 \\
		tools/diff.py
[gpg "ssh"]
	program = ./tools/sign
[core]
	FSMonitor = "fs.sh"
[alias]
	go = !sh run.sh
	st = status open.sh
[commit]
	template = fs.txt
`,
  );
  expect(below()).toEqual(
    [
      ".githooks",
      "fs.sh",
      "more.gitconfig",
      "run.sh",
      "tools/clean.sh",
      "tools/diff.py",
      "tools/sign",
    ].sort(),
  );
});

test("gitPrograms() reads the user's own settings, through a link too, and forgets what is no longer set", () => {
  symlinkSync(put("dots/gitconfig", "[core]\n\thooksPath = hooks\n", home), join(home, ".gitconfig"));
  expect(below()).toEqual(["hooks"]);
  put("dots/gitconfig", "[core]\n\tpager = less\n", home);
  expect(below()).toEqual([]);
});

test("gitPrograms() finds the settings that a linked worktree shares", () => {
  put(".git/config", "[core]\n\thooksPath = .githooks\n");
  put(".git/worktrees/w/commondir", "../..\n");
  const tree = join(dirname(top), "tree");
  put(".git", `gitdir: ${join(top, ".git/worktrees/w")}\n`, tree);
  expect(gitPrograms(tree, home)).toContain(join(tree, ".githooks"));
});

test("isGitProgram() holds for what lies in such a folder, and for a folder around it that moves", () => {
  put("tools/hooks/pre-commit", "");
  put(".git/config", "[core]\n\thooksPath = tools/hooks\n");
  expect(isGitProgram(join(top, "tools/hooks/pre-commit"), home, false)).toBe(true);
  expect([false, true].map((isWhole) => isGitProgram(join(top, "tools"), home, isWhole))).toEqual([
    false,
    true,
  ]);
  expect(isGitProgram(join(top, "tools/other"), home, true)).toBe(false);
});
