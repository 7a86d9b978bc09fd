import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { slugProblem } from "../../abi/worktree.ts";
import { HostProcesses } from "../host/exec.ts";
import { tempFolder } from "../testing.ts";
import { GitWorktrees } from "./worktrees.ts";

const exec = new HostProcesses({
  kernelId: "k-trees",
  epoch: 1,
  pipesDir: join(tmpdir(), `crux-trees-${process.pid}`),
});
afterAll(() => exec.close());

const clock = {
  sleep: (_ms: number, signal?: AbortSignal) =>
    new Promise<void>((_, no) => signal?.addEventListener("abort", no)),
};
const never = new AbortController().signal;
const canHold = exec.sandbox?.available === true;

function repository() {
  const root = tempFolder();
  const [home, main] = [join(root, "home"), join(root, "main")];
  for (const dir of [home, main]) mkdirSync(dir);
  const env = { PATH: process.env.PATH ?? "", HOME: home };
  const gitIn = (cwd: string, ...args: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd, env, stdio: "pipe" })
      .toString()
      .trim();
  const git = (...args: string[]) => gitIn(main, ...args);
  git("init", "-q", "-b", "main");
  writeFileSync(join(main, "a.txt"), "one\n");
  git("add", ".");
  git("commit", "-qm", "first");
  const warned: string[] = [];
  const trees = new GitWorktrees({ exec, clock, env, warn: (line) => warned.push(line) });
  const open = (slug: string, cwd = main) => trees.open({ cwd, slug, owner: "test" }, never);
  /** Whether it is still there once it is settled. */
  const settled = async (tree: Awaited<ReturnType<typeof open>>) => {
    trees.settle(tree);
    const isKept = await trees.isKept(tree, never);
    expect(existsSync(tree.path)).toBe(isKept);
    return isKept;
  };
  return { root, main, git, gitIn, trees, open, settled, warned };
}

it.each(["a/../b", "x".repeat(65), "a b", "", "a//b", "/a", "-a", "a/-b", "a.lock", ".a", "a/.", "a."])(
  "%j names no worktree",
  (slug) => expect(slugProblem(slug)).toBeTypeOf("string"),
);
it.each(["fix-auth.2", "web/login", "x".repeat(64)])("%j names one", (slug) =>
  expect(slugProblem(slug)).toBeUndefined(),
);

describe.skipIf(!canHold)("GitWorktrees", () => {
  it("makes a worktree on a branch of its own, and changes nothing of the checkout but info/exclude", async () => {
    const { main, git, gitIn, open } = repository();
    writeFileSync(join(main, "b.txt"), "not committed");
    const before = [git("status", "--porcelain"), readFileSync(join(main, ".git/config"), "utf8")];
    const tree = await open("web/login");
    expect(tree).toEqual({
      path: join(main, ".crux/worktrees/web/login"),
      branch: "worktree/web/login",
      main,
      gitDir: join(main, ".git"),
      base: git("rev-parse", "HEAD"),
    });
    expect(gitIn(tree.path, "symbolic-ref", "HEAD")).toBe("refs/heads/worktree/web/login");
    expect([git("status", "--porcelain"), readFileSync(join(main, ".git/config"), "utf8")]).toEqual(before);
    expect(git("symbolic-ref", "HEAD")).toBe("refs/heads/main");
    const again = await open("web/login", tree.path);
    expect(again).toEqual(tree);
    expect(
      readFileSync(join(main, ".git/info/exclude"), "utf8").match(/^\.crux\/worktrees\/$/gm),
    ).toHaveLength(1);
  });

  it("refuses names that are taken, and takes nothing that it has not made", async () => {
    const { root, main, git, open } = repository();
    await open("a");
    await expect(open("a/b")).rejects.toMatchObject({ code: "CONFLICT" });
    await open("c/d");
    await expect(open("c")).rejects.toMatchObject({ code: "CONFLICT" });
    git("worktree", "add", "-q", "-b", "own", join(main, ".crux/worktrees/own"));
    await expect(open("own")).rejects.toMatchObject({ code: "CONFLICT" });
    await expect(open("../x")).rejects.toMatchObject({ code: "INVALID" });
    await expect(open("x", root)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    const other = repository();
    symlinkSync(root, join(other.main, ".crux"));
    await expect(other.open("x")).rejects.toMatchObject({ code: "INVALID" });
  });

  it("starts nothing that the repository configures", async () => {
    const { root, main, git, open, settled } = repository();
    const ran = join(root, "ran");
    const script = join(main, "evil.sh");
    writeFileSync(script, `#!/bin/sh\ntouch ${ran}\ncat\n`, { mode: 0o755 });
    for (const hook of ["post-checkout", "reference-transaction"])
      writeFileSync(join(main, ".git/hooks", hook), `#!/bin/sh\ntouch ${ran}\n`, { mode: 0o755 });
    git("config", "core.fsmonitor", script);
    git("config", "filter.evil.smudge", script);
    git("config", "filter.evil.required", "true");
    writeFileSync(join(main, ".git/info/attributes"), "*.txt filter=evil\n");
    // by now a hook of ours has run
    rmSync(ran, { force: true });
    const tree = await open("a");
    expect(existsSync(ran)).toBe(false);
    expect(existsSync(join(tree.path, "a.txt"))).toBe(true);
    git("config", "--unset", "core.fsmonitor");
    git("config", "--remove-section", "filter.evil");
    for (const hook of ["post-checkout", "reference-transaction"]) rmSync(join(main, ".git/hooks", hook));
    expect(await settled(tree)).toBe(false);
    expect(existsSync(ran)).toBe(false);
  });

  it("removes what has not changed, and keeps files, commits and what it cannot judge", async () => {
    const { git, gitIn, open, settled, warned } = repository();
    const clean = await open("clean");
    expect(await settled(clean)).toBe(false);
    expect(git("branch", "--list", clean.branch)).toBe("");
    const file = await open("file");
    writeFileSync(join(file.path, "new.txt"), "x");
    expect(await settled(file)).toBe(true);
    const commit = await open("commit");
    writeFileSync(join(commit.path, "a.txt"), "two\n");
    gitIn(commit.path, "commit", "-qam", "work");
    expect(await settled(commit)).toBe(true);
    const away = await open("away");
    gitIn(away.path, "commit", "-q", "--allow-empty", "-m", "work");
    gitIn(away.path, "checkout", "-q", "--detach", away.base);
    expect(await settled(away)).toBe(true);
    expect(warned).toEqual([]);
    const broken = await open("broken");
    writeFileSync(join(broken.gitDir, "worktrees/broken/index"), "not an index");
    expect(await settled(broken)).toBe(true);
    expect(warned).toHaveLength(1);
  });
});
